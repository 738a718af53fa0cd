"""Models of the Hugging Face hub, by `owner/name` or `owner/name@revision`, in its own cache.

A download is used again without asking the hub. An experiment records the digest of its weights, so
that other weights under the same name are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from edgecil.errors import PrerequisiteError


def hub_folder(hub_id: str, wanted: Sequence[str], *, needed_by: str, remedy: str) -> Path:
    """Return the folder of a hub repository with one of the files `wanted`, or download it."""
    cached = cached_snapshot(hub_id, wanted)
    if cached is not None:
        return cached
    cause = None
    if not is_hub_id(hub_id):
        problem = "it is not a hub id (owner/name or owner/name@revision)"
    else:
        try:
            return _download(hub_id, wanted)
        except ImportError:
            problem = "huggingface_hub is not installed (pip install 'edgecil[hf]')"
        except Exception as error:  # of the network, the hub or the disk
            problem = f"downloading it failed ({type(error).__name__})"
            cause = error
    raise PrerequisiteError(
        f"{needed_by} requires {hub_id}, which is neither a folder or file here nor in the hub's "
        f"cache, and {problem}; {remedy}."
    ) from cause


def is_hub_id(text: str) -> bool:
    """Return whether a text has the form of a hub id, owner/name or owner/name@revision.

    >>> [is_hub_id(text) for text in ("timm/vit.dino", "a/b@1a2b3c", "./vit", "vit", "a/b/c")]
    [True, True, False, False, False]
    """
    return re.fullmatch(r"\w[\w.-]*/\w[\w.-]*(@\w[\w.-]*)?", text, re.ASCII) is not None


def cached_snapshot(hub_id: str, wanted: Sequence[str]) -> Path | None:
    """Return the folder of an earlier download of `hub_id`, if it has one of the files `wanted`."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    repository, _, revision = hub_id.partition("@")
    if not is_hub_id(hub_id):
        return None
    for name in wanted:
        path = try_to_load_from_cache(repository, name, revision=revision or None)
        if isinstance(path, str):
            return Path(path).parent
    return None


def _download(hub_id: str, wanted: Sequence[str]) -> Path:
    """Download the first file of `wanted` and the settings beside it, all at one commit."""
    from huggingface_hub import model_info, snapshot_download

    repository, _, revision = hub_id.partition("@")
    files = {file.rfilename for file in model_info(repository, revision=revision or None).siblings}
    weights = next(name for name in wanted if name in files)
    patterns = [weights, "*.json", "*.txt"]
    return Path(snapshot_download(repository, revision=revision or None, allow_patterns=patterns))
