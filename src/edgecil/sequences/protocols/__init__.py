"""Protocols: objects that choose class sequences and say what claims may rest on them.

A new protocol is one file with a subclass of :class:`Protocol` and a name in `draw.py`, or, in
another package, :func:`register_protocol` or an entry point of the group `edgecil.protocols`.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
