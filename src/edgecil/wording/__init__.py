"""Every sentence that people read about runs, methods and orders."""
