"""`python -m agent.cli` is `facetwise`."""

import sys


def start() -> None:
    """Ctrl-C also while modules are still being loaded ends without a traceback."""
    try:
        from agent.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    start()
