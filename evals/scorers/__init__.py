"""Scorers: pure functions from what came out and what was right to figures."""
