"""Files shipped with the package: the sample handbook of an invented company."""
