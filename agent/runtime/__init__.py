"""The embedded runtime: one background process per data directory.

It owns the local model and Milvus Lite, speaks Ollama's HTTP protocol on a loopback port, and is
used by address, as a real Ollama and a Milvus cluster would be. Clients need only
`agent.runtime.process`.
"""
