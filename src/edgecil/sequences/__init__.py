"""Class sequences: what they are, what they are worth, and how to choose them."""

import lazy_loader as _lazy

from edgecil.io.notebook import make_callable as _make_callable

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
_make_callable(__name__, "choose_sequences")
