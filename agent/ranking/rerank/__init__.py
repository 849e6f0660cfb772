"""Second looks at the best hits: each strategy scores them anew and orders them by that."""
