"""`python -m agent.cli` is `facetwise`."""

from agent.cli.main import run

run()
