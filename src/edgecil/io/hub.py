"""The Hugging Face hub: what an earlier download left here, and downloading what did not."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from edgecil.errors import PrerequisiteError


def hub_folder(
    hub_id: str, wanted: Sequence[str], settings: Sequence[str], *, needed_by: str, remedy: str
) -> Path:
    """The folder of a hub repository with one of the files `wanted`: cached, else downloaded.

    Args:
        hub_id: owner/name.
        wanted: names of files, the preferred first.
        settings: names of files to download along with it, as far as there are any.
        needed_by: who needs it, the beginning of the error.
        remedy: what to do if it cannot be had, the end of the error.
    """
    if cached := cached_snapshot(hub_id, wanted):
        return cached
    problem, cause = _obstacle(hub_id), None
    if problem is None:
        try:
            return _download(hub_id, wanted, settings)
        except Exception as error:
            problem, cause = f"downloading it failed ({type(error).__name__})", error
    raise PrerequisiteError(
        f"{needed_by} needs {hub_id}, which is neither a folder or file here nor in the hub's "
        f"cache, and {problem}; {remedy}."
    ) from cause


@cache
def add_settings(hub_id: str, snapshot: Path, settings: tuple[str, ...]) -> None:
    """Download settings that an earlier download of weights left out, if that can be done.

    Args:
        hub_id: owner/name.
        snapshot: the folder of the earlier download, named by its commit.
        settings: names of files, as far as there are any.
    """
    if _obstacle(hub_id) is None:
        import huggingface_hub

        with suppress(Exception):
            huggingface_hub.snapshot_download(
                hub_id, revision=snapshot.name, allow_patterns=list(settings)
            )


def is_hub_id(text: str) -> bool:
    """Whether a text has the form of a hub id, owner/name.

    >>> [is_hub_id(text) for text in ("timm/vit_base_patch16_224.dino", "./vit", "vit", "a/b/c")]
    [True, False, False, False]
    """
    return re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", text) is not None


def cached_snapshot(hub_id: str, wanted: Sequence[str]) -> Path | None:
    """The folder that an earlier download of `hub_id` left here, if it has a file `wanted`."""
    home = os.environ.get("HF_HOME")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    default = (Path(home) if home else Path(base) / "huggingface") / "hub"
    cache = Path(os.environ.get("HF_HUB_CACHE") or default).expanduser()
    repository = cache / f"models--{hub_id.replace('/', '--')}"
    try:
        commit = (repository / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    snapshot = repository / "snapshots" / commit
    return snapshot if first_file(snapshot, wanted) else None


def first_file(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of `names` that is a file in `folder`."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _obstacle(hub_id: str) -> str | None:
    """Why a download need not be tried, if there is a reason."""
    if not is_hub_id(hub_id):
        return "it is not a hub id (owner/name)"
    if find_spec("huggingface_hub") is None:
        return "huggingface_hub is not installed to download it"
    return _unreachable()


def _unreachable() -> str | None:
    import ssl
    import urllib.error
    import urllib.request

    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        return "HF_HUB_OFFLINE is set"
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    try:
        with urllib.request.urlopen(urllib.request.Request(endpoint, method="HEAD"), timeout=5):
            return None
    except urllib.error.HTTPError as error:
        error.close()
        return None
    except (OSError, ValueError) as error:
        if isinstance(getattr(error, "reason", None), ssl.SSLError):
            return None
        return f"{endpoint} cannot be reached"


def _download(hub_id: str, wanted: Sequence[str], settings: Sequence[str]) -> Path:
    import huggingface_hub

    held = huggingface_hub.list_repo_files(hub_id)
    file = next(name for name in wanted if name in held)
    huggingface_hub.snapshot_download(hub_id, allow_patterns=list(settings))
    return Path(huggingface_hub.snapshot_download(hub_id, allow_patterns=[file]))
