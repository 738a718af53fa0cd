"""Arrays in, numbers out: distributions, intervals, the posterior, tests after every look."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
