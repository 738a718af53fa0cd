"""What a person looks at: figures and tables."""
