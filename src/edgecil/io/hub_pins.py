"""Pins of hub repositories: the commit and the checksums of weights when they were first used.

A branch such as `main` stays at the commit of its first use, and a file of a commit must have the
SHA-256 sum that it had then. The pins are in a JSON file that the user may read and edit:
`$EDGECIL_HUB_PINS`, else `edgecil/hub-pins.json` in the user's configuration directory.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from edgecil.errors import DataError, EdgecilError
from edgecil.io.files import read_json, replace_file, user_directory
from edgecil.io.locks import waiting_lock

SCHEMA = "edgecil.hub-pins/1"

_log = logging.getLogger(__name__)


def pins_path() -> Path:
    """Return the file of the pins."""
    if given := os.environ.get("EDGECIL_HUB_PINS"):
        return Path(given).expanduser()
    return user_directory("XDG_CONFIG_HOME", ".config") / "edgecil" / "hub-pins.json"


def pinned_commit(repository: str, revision: str) -> str | None:
    """Return the commit at which a branch or tag was first used; None if it was not."""
    commit: str | None = _read()["revisions"].get(repository, {}).get(revision)
    return commit


def check_weights(repository: str, revision: str, file: Path, published: str | None = None) -> None:
    """Compare a weight file with its pin, or pin it if this is its first use.

    Args:
        repository: owner/name.
        revision: the branch, tag or commit that was asked for.
        file: in a folder that is named by its commit.
        published: the SHA-256 sum that the hub states, if it was asked.
    """
    commit, status = file.parent.name, file.stat()
    digest = _sha256(file, status.st_size, status.st_mtime_ns)
    for expected, origin in (
        (published, f"{repository} publishes for it"),
        (_content_name(file), "the hub gave it when it was downloaded"),
        (_read()["files"].get(repository, {}).get(commit, {}).get(file.name), f"{pins_path()} has"),
    ):
        if expected is not None and digest != expected:
            raise DataError(
                f"{file} has the SHA-256 sum {digest}, but {expected} is the one that {origin}; "
                "delete the file and download it again, or find out who changed it."
            )
    _pin(repository, revision, commit, file.name, digest)


def _pin(repository: str, revision: str, commit: str, name: str, digest: str) -> None:
    """Add a pin; what is pinned already stays as it is."""
    path = pins_path()
    try:
        with waiting_lock(path.with_name(f"{path.name}.lock")):
            pins = _read()
            before = json.dumps(pins)
            if revision != commit:
                pins["revisions"].setdefault(repository, {}).setdefault(revision, commit)
            pins["files"].setdefault(repository, {}).setdefault(commit, {}).setdefault(name, digest)
            if json.dumps(pins) != before:
                with replace_file(path, private=True) as file:
                    file.write(json.dumps({"schema": SCHEMA, **pins}, indent=1).encode())
    except DataError:
        raise
    except EdgecilError as error:
        _log.warning("The checksum of %s cannot be kept for later comparison: %s", name, error)


def _read() -> dict[str, dict[str, Any]]:
    """Commits by repository and revision, and sums by repository, commit and file."""
    path = pins_path()
    if not path.exists():
        return {"revisions": {}, "files": {}}
    content = read_json(path)
    try:
        if content["schema"] != SCHEMA:
            raise ValueError("it has another schema")
        pins = {name: dict(content[name]) for name in ("revisions", "files")}
        _check(pins)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"{path} is damaged ({error}); restore it, or delete it to pin weights at their next "
            "use."
        ) from error
    return pins


def _check(pins: Mapping[str, Mapping[str, Any]]) -> None:
    """A ValueError unless all pins are commits and sums."""
    commits = [commit for by_name in pins["revisions"].values() for commit in by_name.values()]
    sums = [
        digest
        for by_commit in pins["files"].values()
        for by_name in by_commit.values()
        for digest in by_name.values()
    ]
    if not all(re.fullmatch(r"\w[\w.-]*", commit) for commit in commits):
        raise ValueError("a pinned commit is not a name")
    if not all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in sums):
        raise ValueError("a pinned sum is not one of SHA-256")


def _content_name(file: Path) -> str | None:
    """Return the checksum in the name of the blob that a snapshot's file links to."""
    name = file.resolve().name
    return name if file.is_symlink() and re.fullmatch(r"[0-9a-f]{64}", name) else None


@cache
def _sha256(file: Path, size: int, changed: int) -> str:
    """Return the checksum of a file, computed once while its size and time stay the same."""
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()
