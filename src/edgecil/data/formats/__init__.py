"""One module per way in which image datasets are stored."""
