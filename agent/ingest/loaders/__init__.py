"""Readers by kind of file."""
