"""What things are: filters, collections, plans, hits, answers, errors. Pure."""
