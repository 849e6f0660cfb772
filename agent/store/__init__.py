"""Knowledge bases in Milvus: catalogue, search, writing."""
