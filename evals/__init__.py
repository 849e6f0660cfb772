"""Offline runs: suites, scorers, reports."""
