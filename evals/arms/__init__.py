"""Arms: the ways of answering a case that are measured against each other."""
