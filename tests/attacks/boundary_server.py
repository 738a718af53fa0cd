"""Trains small experiments, each in a process of its own that is killed at one boundary.

Run with the library of `boundaries.c` preloaded: `python -m tests.attacks.boundary_server LIBRARY
DATASET`. A request is a line `DIRECTORY BOUNDARY TORN`, with 0 for no kill; the answer is the exit
code of the process, or minus the signal, and the number of boundaries.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import traceback
from pathlib import Path

from edgecil.io.device import use_portable_kernels

use_portable_kernels()

import torch  # noqa: E402 (after the choice of kernels)

import edgecil  # noqa: E402
from tests.training import strange  # noqa: E402, F401 (registers its learners)


def work(dataset: str, directory: str) -> None:
    """What a user does: train, analyse, write the report."""
    out = Path(directory)
    edgecil.run(
        out=out / "run",
        method="instant",
        dataset=dataset,
        tasks=2,
        protocol="enumerate",
        execution={"workers": 1},
    )
    analysis = edgecil.analyze(out / "run")
    analysis.save(out / "analysis.json")


def serve(library: str, dataset: str) -> None:
    """Answer requests until there are no more."""
    shim = ctypes.CDLL(library)
    shim.boundaries.restype = ctypes.c_long
    shim.arm.argtypes = ctypes.c_char_p, ctypes.c_long, ctypes.c_int
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        work(dataset, folder)  # once here, so that the other processes find all modules loaded
    for line in sys.stdin:
        directory, boundary, torn = line.rsplit(maxsplit=2)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.dup2(2, 1)
                shim.arm(directory.encode(), int(boundary), int(torn))
                work(dataset, directory)
                os.write(writing, str(shim.boundaries()).encode())
                code = 0
            except BaseException:
                traceback.print_exc()
            os._exit(code)
        os.close(writing)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(reading) as answer:
            count = answer.read() or "0"
        print(os.waitstatus_to_exitcode(status), count, flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
