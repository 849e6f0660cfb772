"""What in the metadata of a knowledge base makes filters worse than they could be."""
