"""What only the EDGE paper needs: its theorems, its tables, its captions, its numbers."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
