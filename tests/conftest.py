from __future__ import annotations

from hypothesis import settings

# Compiling a kernel at its first call must not look like a slow example.
settings.register_profile("edgecil", deadline=None)
settings.load_profile("edgecil")
