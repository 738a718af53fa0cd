"""The cells of result files: one module for each form of file, behind one contract."""
