"""The Hugging Face hub: what an earlier download left here, and downloading what did not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from edgecil.errors import PrerequisiteError

WEIGHTS = (
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.bin",
    "model.safetensors",
    "pytorch_model.bin",
)
TOKENIZERS = ("tokenizer.json", "vocab.json", "vocab.txt")
SETTINGS = (
    *TOKENIZERS,
    "merges.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "open_clip_config.json",
    "config.json",
)
BUNDLED_SERVES = "'minilm-bundled' needs nothing and serves every bundled dataset"


def hub_folder(encoder: str, hub_id: str, wanted: Sequence[str], remedy: str) -> Path:
    """The folder of a hub repository with one of the files `wanted`: cached, else downloaded."""
    if cached := cached_snapshot(hub_id, wanted):
        return cached
    problem = "it is not a hub id (owner/name)" if hub_id.count("/") != 1 else _unreachable()
    if problem is None:
        try:
            return _download(hub_id, wanted)
        except Exception as error:
            problem = f"downloading it failed ({type(error).__name__})"
            raise _missing(encoder, hub_id, problem, remedy) from error
    raise _missing(encoder, hub_id, problem, remedy)


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


def _download(hub_id: str, wanted: Sequence[str]) -> Path:
    import huggingface_hub

    held = huggingface_hub.list_repo_files(hub_id)
    file = next(name for name in wanted if name in held)
    huggingface_hub.snapshot_download(hub_id, allow_patterns=list(SETTINGS))
    return Path(huggingface_hub.snapshot_download(hub_id, allow_patterns=[file]))


def _missing(encoder: str, given: str, problem: str, remedy: str) -> PrerequisiteError:
    return PrerequisiteError(
        f"Encoder {encoder!r} needs {given}, which is neither a folder or file here nor in the "
        f"hub's cache, and {problem}; {remedy} ({BUNDLED_SERVES})."
    )
