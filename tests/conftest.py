from __future__ import annotations

import signal

from hypothesis import settings

# Compiling a kernel at its first call must not look like a slow example.
settings.register_profile("edgecil", deadline=None)
settings.load_profile("edgecil")

# Started in the background or by nohup, this process ignores these signals, and so would every
# program that a test starts and then interrupts.
for number, usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)
