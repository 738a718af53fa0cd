"""The Hugging Face hub: files of earlier downloads, and downloads at a fixed revision.

A hub id is `owner/name`, or `owner/name@revision` with a commit, tag or branch. A download is made
at one commit. Weights must have the checksum that the hub states and the one of their first use;
see :mod:`edgecil.io.hub_pins`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.files import replace_file, user_cache
from edgecil.io.hub_pins import check_weights, pinned_commit, pins_path


def hub_folder(
    hub_id: str, wanted: Sequence[str], settings: Sequence[str], *, needed_by: str, remedy: str
) -> Path:
    """Return the folder of a hub repository with one of the files `wanted`, cached or downloaded.

    Args:
        hub_id: owner/name, or owner/name@revision.
        wanted: names of files, the preferred first.
        settings: names of files to download with it, if the repository has them.
        needed_by: what requires it; the beginning of the error.
        remedy: what to do if it is not available; the end of the error.
    """
    if cached := cached_snapshot(hub_id, wanted):
        return cached
    problem, cause = _obstacle(hub_id), None
    if problem is None:
        try:
            return _download(hub_id, wanted, settings)
        except DataError:
            raise
        except Exception as error:
            problem, cause = f"downloading it failed ({type(error).__name__})", error
    raise PrerequisiteError(
        f"{needed_by} requires {hub_id}, which is neither a folder or file here nor in the hub's "
        f"cache, and {problem}; {remedy}."
    ) from cause


@cache
def add_settings(hub_id: str, snapshot: Path, settings: tuple[str, ...]) -> None:
    """Download settings that an earlier download of weights left out, if the hub can be reached.

    Args:
        hub_id: owner/name, or owner/name@revision.
        snapshot: the folder of the earlier download, named by its commit.
        settings: names of files; those that the repository lacks are ignored.
    """
    if _obstacle(hub_id) is None:
        import huggingface_hub

        with suppress(Exception):
            huggingface_hub.snapshot_download(
                split_hub_id(hub_id)[0], revision=snapshot.name, allow_patterns=list(settings)
            )


def is_hub_id(text: str) -> bool:
    """Return whether a text has the form of a hub id, owner/name or owner/name@revision.

    >>> [is_hub_id(text) for text in ("timm/vit_base_patch16_224.dino", "./vit", "vit", "a/b/c")]
    [True, False, False, False]
    >>> is_hub_id("timm/resnet50_clip.openai@1a2b3c")
    True
    """
    return re.fullmatch(r"\w[\w.-]*/\w[\w.-]*(@\w[\w.-]*)?", text, re.ASCII) is not None


def split_hub_id(hub_id: str) -> tuple[str, str]:
    """Return the repository and revision of a hub id; the revision is `main` unless given.

    >>> split_hub_id("us/tiny@v1"), split_hub_id("us/tiny")
    (('us/tiny', 'v1'), ('us/tiny', 'main'))
    """
    repository, _, revision = hub_id.partition("@")
    return repository, revision or "main"


def cached_snapshot(hub_id: str, wanted: Sequence[str], *, verify: bool = True) -> Path | None:
    """Return the folder of an earlier download of `hub_id`, if it has one of the files `wanted`.

    Args:
        hub_id: owner/name, or owner/name@revision.
        wanted: names of files, the preferred first.
        verify: compare the file with its checksums, which takes about a second per gigabyte.
    """
    home = os.environ.get("HF_HOME")
    default = (Path(home) if home else user_cache() / "huggingface") / "hub"
    cache = Path(os.environ.get("HF_HUB_CACHE") or default).expanduser()
    name, revision = split_hub_id(hub_id)
    repository = cache / f"models--{name.replace('/', '--')}"
    try:
        commit = (repository / "refs" / revision).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        commit = revision
    if not re.fullmatch(r"\w[\w.-]*", commit):
        return None
    pinned = pinned_commit(name, revision) or commit
    file = first_file(repository / "snapshots" / pinned, wanted)
    if file is None:
        if pinned != commit and first_file(repository / "snapshots" / commit, wanted):
            raise DataError(
                f"{hub_id} was at commit {pinned} when it was first used here, and now is at "
                f"{commit}; give {name}@{commit} to use that, or delete {revision!r} of {name} in "
                f"{pins_path()}."
            )
        return None
    if verify:
        check_weights(name, revision, file)
    return file.parent


def first_file(folder: Path, names: Sequence[str]) -> Path | None:
    """Return the first of `names` that is a file in `folder`."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _obstacle(hub_id: str) -> str | None:
    """Return why a download cannot succeed, if there is a reason."""
    if not is_hub_id(hub_id):
        return "it is not a hub id (owner/name or owner/name@revision)"
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
    """Download the first file of `wanted` and the settings, all at one commit."""
    import huggingface_hub

    repository, revision = split_hub_id(hub_id)
    info = huggingface_hub.model_info(
        repository, revision=pinned_commit(repository, revision) or revision, files_metadata=True
    )
    stored = {sibling.rfilename: getattr(sibling, "lfs", None) for sibling in info.siblings or ()}
    file = next(name for name in wanted if name in stored)
    folder = Path()
    for patterns in (list(settings), [file]):  # the weights last: with them it counts as complete
        folder = Path(
            huggingface_hub.snapshot_download(
                repository, revision=info.sha, allow_patterns=patterns
            )
        )
    published = getattr(stored[file], "sha256", None)
    check_weights(repository, revision, folder / file, published)
    _remember_revision(folder, revision)
    return folder


def _remember_revision(snapshot: Path, revision: str) -> None:
    """Let later calls find the commit under the revision's name, as the hub's own client does."""
    reference = snapshot.parent.parent / "refs" / revision
    if not reference.exists() and revision != snapshot.name:
        with replace_file(reference) as file:
            file.write(snapshot.name.encode())
