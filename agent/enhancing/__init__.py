"""What is added to a question before the search."""
