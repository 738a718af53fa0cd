"""Commands in a container, without Docker: for a user without rights, on a read-only root.

The restrictions are those of `docker run --read-only --tmpfs /tmp --user 1000 --volume …:/work`;
the program, its packages and the system's libraries are those of this machine.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import edgecil
from edgecil.io.files import read_toml

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "Dockerfile"
NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount"]
NO_RIGHTS = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
# The folder of results ($1) stays writable; a new /tmp; the shared memory ($2) of a container has
# 64 MB, or belongs to somebody else; then the command. A folder in /tmp would be hidden by the new
# /tmp, so it is bound to /mnt first.
RESTRICT = """
mount --bind "$1" /mnt || exit 3
mount -o remount,bind,ro / || exit 3
mount -t tmpfs none /tmp || exit 3
mount -t tmpfs -o "$2" none /dev/shm || exit 3
cd /mnt && shift 2 && exec "$@"
"""


def can_restrict() -> bool:
    """Return whether this system allows namespaces of one's own."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return False
    words = [*NAMESPACES, *NO_RIGHTS, "true"]
    return subprocess.run(words, capture_output=True).returncode == 0


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line.strip()]
    return [(name, argument.strip()) for name, argument in pairs]


def documented_commands(path: Path) -> list[list[str]]:
    """Return the arguments after the image's name of every `docker run` in a file."""
    text = re.sub(r"\\\n#?", " ", path.read_text(encoding="utf-8"))
    lines = re.findall(r"docker run .*? edgecil .*", text)
    return [shlex.split(line.partition(" edgecil ")[2]) for line in lines]


def run_restricted(
    folder: Path, commands: list[list[str]], shared_memory: str = "size=64M", **variables: str
) -> list[str]:
    """Run commands of edgecil as in the container; return the output of each."""
    words = " && ".join(
        f"{shlex.quote(sys.executable)} -m edgecil {shlex.join(command)} && echo ==="
        for command in commands
    )
    stated = dict(shlex.split(argument)[0].split("=") for argument in environment_lines())
    done = subprocess.run(
        [
            *NAMESPACES,
            *("sh", "-c", RESTRICT, "sh", str(folder), shared_memory),
            *NO_RIGHTS,
            *("sh", "-c", words),
        ],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(edgecil.__file__).parents[1]),
            **stated,
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [*done.stdout.split("===\n")[:-1], done.stderr]


def environment_lines() -> list[str]:
    """Return the variables of the Dockerfile, as NAME=VALUE."""
    [argument] = [argument for name, argument in instructions() if name == "ENV"]
    return argument.split()


restricted = pytest.mark.skipif(not can_restrict(), reason="namespaces are not allowed here")


@restricted
@pytest.mark.slow
def test_the_documented_commands_work_in_a_container(tmp_path) -> None:
    commands = documented_commands(DOCKERFILE)
    assert commands[0][:2] == ["run", "quickdraw"]
    assert documented_commands(ROOT / "docs" / "guide" / "machines.md") == commands
    outputs = run_restricted(tmp_path, [*commands, ["status", "runs/x"]])
    assert "simplecil" in outputs[0]
    assert outputs[1].startswith("runs/x: 5 of 5 runs finished")
    assert "cannot" not in outputs[-1], "there is a cache, and memory to share"


@restricted
@pytest.mark.slow
def test_training_needs_neither_home_nor_cache_nor_shared_memory(tmp_path) -> None:
    """Without a home, a cache that can be made, a TMPDIR that is there, or memory to share."""
    words = "run quickdraw --method finetune --classes 4 --tasks 2 --epochs 1 --protocol random"
    variables = {"HOME": "/none", "EDGECIL_CACHE": "/proc/x", "TMPDIR": "/none"}
    command = [*words.split(), "--budget", "2", "--workers", "2", "--out", "runs/x"]
    outputs = run_restricted(tmp_path, [command], "size=4k", **variables)
    assert "finetune  random            2" in outputs[0]
    first, second = [line for line in outputs[-1].splitlines() if "cannot" in line]
    assert first.startswith("edgecil: The cache /proc/x cannot be written (")
    assert "Set the environment variable EDGECIL_CACHE" in first
    assert second.startswith("edgecil: Processes on this machine cannot share memory (No space")


def test_the_image_has_all_that_the_package_is_built_from() -> None:
    copied = [
        name
        for instruction, argument in instructions()
        if instruction == "COPY"
        for name in shlex.split(argument)[:-1]
    ]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {f"!{name}" for name in copied} <= set(ignored)
    project = read_toml(ROOT / "pyproject.toml")
    needed = [project["project"]["readme"], *project["project"]["license-files"], "pyproject.toml"]
    needed += project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    for name in needed:
        assert list(ROOT.glob(name))
        assert any(Path(name).is_relative_to(each) for each in copied), name


def test_the_container_runs_as_a_user_without_rights() -> None:
    by_name = dict(instructions())
    assert int(by_name["USER"]) > 0
    assert by_name["ENTRYPOINT"] == '["edgecil"]'
