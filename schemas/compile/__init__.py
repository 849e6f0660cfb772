"""What filters are compiled to: Milvus expressions, predicates, words, schemas, wire formats."""
