"""Run the tests as on other machines.

    python tools/foreign.py                        the whole suite on each of them, one by one
    python tools/foreign.py sse abroad             only as on these
    python tools/foreign.py sse --training         only tests that train, in half a minute
    python tools/foreign.py nobody -- tests/cli    with other arguments of pytest

| machine | is imitated by |
|---|---|
| `sse` | a processor without AVX: other kernels of torch, oneDNN and MKL |
| `avx512` | kernels for AVX-512, where this processor has it |
| `abroad` | another time zone, no UTF-8, other hashes, a narrow terminal, no user name |
| `nobody` | no home, no list of users, and a source tree that cannot be written |
| `single` | one core |

It exits with 1 if tests failed on one of them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import kernels

ROOT = Path(__file__).parents[1]
SUITE = ["-n", "logical", "--dist", "worksteal"]
# Tests that train, without those of processes and devices, which take longer.
TRAINING = [
    "tests/methods",
    "tests/training/test_vectors.py",
    "-m",
    "not slow",
]
# By variable of the environment, its value; None removes it.
ABROAD = {
    "TZ": "Asia/Kathmandu",  # 5:45 hours ahead
    "LC_ALL": "POSIX",
    "LANG": None,
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONUTF8": "0",
    "PYTHONHASHSEED": "1",
    "COLUMNS": "40",
    "TERM": "dumb",
    "USER": None,
    "LOGNAME": None,
    "USERNAME": None,
}
NOBODY = {
    "HOME": "/proc/none",  # cannot be made
    "USER": None,
    "LOGNAME": None,
    "USERNAME": None,
    "XDG_CACHE_HOME": None,
    "PYTHONDONTWRITEBYTECODE": "1",
}
# In a mount namespace: a read-only source tree ($1) and no list of users; then the command.
_RESTRICTED = """
mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 3
mount --bind /dev/null /etc/passwd || exit 3
cd "$1" && shift && exec "$@"
"""
_UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")
_ONE_CORE = ("taskset", "--cpu-list", "0")


@dataclass(frozen=True)
class Machine:
    """What differs from this machine.

    Attributes:
        variables: of the environment; None removes one.
        prefix: command before that of pytest.
        missing: why this machine cannot imitate it; empty if it can.
    """

    variables: Mapping[str, str | None] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    missing: str = ""


def machines() -> dict[str, Machine]:
    """Return the machines by name."""
    of_kernels = kernels.environments()
    return {
        "sse": Machine(of_kernels["sse"]),
        "avx512": Machine(
            of_kernels.get("avx512", {}),
            missing="" if "avx512" in of_kernels else "This processor has no AVX-512.",
        ),
        "abroad": Machine(ABROAD),
        "nobody": Machine(
            NOBODY,
            (*_UNSHARE, "sh", "-c", _RESTRICTED, "sh", str(ROOT)),
            missing="" if _works([*_UNSHARE, "true"]) else "Mounts of its own are not allowed.",
        ),
        "single": Machine(
            prefix=_ONE_CORE,
            missing="" if _works([*_ONE_CORE, "true"]) else "Processes cannot be bound to cores.",
        ),
    }


def _works(command: Sequence[str]) -> bool:
    """Return whether a command exists and succeeds."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True).returncode == 0


def run_tests(machine: Machine, arguments: list[str]) -> int:
    """Run pytest as on a machine; return its exit code."""
    environment = {**os.environ, **machine.variables}
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *SUITE, *arguments]
    return subprocess.run(
        [*machine.prefix, *pytest],
        cwd=ROOT,
        env={name: value for name, value in environment.items() if value is not None},
    ).returncode


def main() -> int:
    """Parse the command line, and run the tests as on each machine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("machine", nargs="*", help="by default all")
    parser.add_argument("--training", action="store_true", help="only tests that train")
    words, arguments = split_arguments(sys.argv[1:])
    options = parser.parse_args(words)
    if options.training:
        arguments = [*TRAINING, *arguments]
    failed = []
    choices = machines()
    unknown = set(options.machine) - choices.keys()
    if unknown:
        parser.error(f"Unknown machine {min(unknown)!r}. Choose from: {', '.join(choices)}.")
    for name in options.machine or choices:
        machine = choices[name]
        print(f"== {name}: {machine.missing or 'tests'}", flush=True)
        if not machine.missing and run_tests(machine, arguments):
            failed.append(name)
    if failed:
        print(f"Tests failed as on: {', '.join(failed)}")
    return 1 if failed else 0


def split_arguments(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words before and after `--`."""
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


if __name__ == "__main__":
    sys.exit(main())
