"""Which orders to run and how to judge from them: protocols and estimators beside the truth."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
