"""The table of runs: read from files of any form, joined, and written; its metrics."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
