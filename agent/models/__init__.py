"""Chat and embedding models behind the Ollama protocol."""
