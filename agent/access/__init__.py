"""Who may see what: decided outside the model."""
