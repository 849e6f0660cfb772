"""What happens to hits between search and answer."""
