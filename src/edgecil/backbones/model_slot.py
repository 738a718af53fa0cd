"""The model slot: networks of other libraries and of the user, as backbones.

A model is anything that maps a batch of inputs to features (n, d): `timm:NAME`, `hf:ID` (the
AutoModel of transformers), `FILE.py:make` or `package.module:make` (a function without arguments
that returns a module), an entry point of the group `edgecil.backbones`, and in Python also such a
function or a module itself. `?weights=FILE` behind a name of timm loads a weight file, and
`?weights=none` draws the weights from the run's seed.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import random
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import torch
from torch import nn

from edgecil.backbones.resnet import Backbone
from edgecil.data.augment import Normalise
from edgecil.errors import UsageError, first_line, format_value, unknown_name_error
from edgecil.io import code
from edgecil.io.packages import import_package
from edgecil.registry import installed

ENTRY_POINTS = "edgecil.backbones"
TIMM, HUB = "timm:", "hf:"

_GIVEN = "python:"  # begins the text that stands for a module of this process
_TOKENS = ("pooler_output", "image_embeds", "last_hidden_state")

_models: dict[str, SlotModel] = {}


@dataclass(frozen=True, eq=False)
class SlotModel:
    """A model that other processes can build: from its text, its code, or the network itself."""

    text: str
    source: code.CodeSource | None = None
    module: nn.Module | None = field(default=None, repr=False)

    @property
    def is_interactive(self) -> bool:
        """Whether only this process can build it: a notebook defines its code."""
        return self.source is not None and self.source.is_interactive

    @property
    def is_of_script(self) -> bool:
        """Whether the class of a part of the module is in the main script."""
        parts = () if self.module is None else self.module.modules()
        return any(type(part).__module__ == "__main__" for part in parts)


class SlotBackbone(Backbone):
    """A network of the slot; the number of its features is found by one forward pass."""

    def __init__(self, inner: nn.Module, name: str, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.inner = inner
        self._name = name
        training = inner.training
        inner.eval()
        try:
            with torch.no_grad():
                features = self(torch.zeros(2, *shape))
        except UsageError:
            raise
        except Exception as error:
            raise UsageError(
                f"The backbone {name!r} does not take inputs of the shape {shape} "
                f"({first_line(error)}); use another one, or set `image_size`."
            ) from error
        inner.train(training)
        self.feature_size = features.shape[1]

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return features (n, d) of inputs (n, …)."""
        # A model of images and texts has a function for its image side.
        features = getattr(self.inner, "get_image_features", self.inner)(inputs)
        if not isinstance(features, torch.Tensor):
            named = (getattr(features, name, None) for name in _TOKENS)
            features = next((output for output in named if output is not None), features)
            if isinstance(features, torch.Tensor) and features.ndim == 3:  # the class token
                features = features[:, 0]
        if (
            not isinstance(features, torch.Tensor)
            or features.ndim != 2
            or len(features) != len(inputs)
        ):
            raise UsageError(
                f"The backbone {self._name!r} must map {len(inputs)} inputs to features "
                f"({len(inputs)}, d). Got {format_value(features)}."
            )
        return features


def backbone_text(model: Any) -> str:
    """Return the text that stands for a model in options."""
    if isinstance(model, (str, Path)):
        return str(model)
    if isinstance(model, nn.Module):
        for text, slot_model in _models.items():
            if slot_model.module is model:
                return text
        text = f"{_GIVEN}{type(model).__name__}-{uuid.uuid4().hex[:8]}"
        sources = filter(None, (_source_of(type(part)) for part in model.modules()))
        _models[text] = SlotModel(text, next(sources, None), model)
        return text
    if not callable(model) or not getattr(model, "__qualname__", "").isidentifier():
        raise UsageError(
            "`backbone` must be a name, a module of torch, or a function at the top level of a "
            f"module or a notebook that returns one. Got {type(model).__name__}."
        )
    source = code.locate_object(model)
    _models[source.spec] = SlotModel(source.spec, source)
    if source.is_interactive:
        _factories[source.spec] = model
    return source.spec


_factories: dict[str, Callable[[], nn.Module]] = {}  # those that a notebook defines


def is_slot_model(name: str) -> bool:
    """Return whether a text names a model of the slot."""
    if name in _models or name.startswith((TIMM, HUB, _GIVEN)):
        return True
    return code.names_code(name) or name in installed(ENTRY_POINTS)


def find_model(name: str) -> SlotModel:
    """Return a model of the slot, with what another process needs to build it."""
    if name in _models:
        return _models[name]
    if name.startswith(_GIVEN):
        raise UsageError(
            f"The backbone {name!r} was a module in Python; call edgecil.run with it again."
        )
    source = None
    if (point := installed(ENTRY_POINTS).get(name)) is not None:
        source = code.locate_module(point.module, point.attr)
    elif not name.startswith((TIMM, HUB)):
        source = code.locate_code(name)
    _models[name] = SlotModel(name, source)
    return _models[name]


def model_name(name: str) -> str:
    """Return a name that is the same in every process: the name of a module has no token."""
    return name.rpartition("-")[0] if name.startswith(_GIVEN) else name


def supply_model(model: SlotModel) -> None:
    """Use a model that another process sent."""
    _models.setdefault(model.text, model)


def build_model(name: str, shape: tuple[int, ...], seed: int) -> SlotBackbone:
    """Return a new network on the CPU, in training mode; its function is called under a seed."""
    with seeded_generators(seed, "cpu"):
        return SlotBackbone(_make(name), name, shape)


def _make(name: str) -> nn.Module:
    model = find_model(name)
    if model.module is not None:
        return copy.deepcopy(model.module).cpu()
    make: Any = _factories.get(name)
    if name.startswith((TIMM, HUB)):
        make = partial(_from_timm if name.startswith(TIMM) else _from_transformers, name)
    elif make is None:
        assert model.source is not None
        make = code.load_code(model.source)
    made = code.call_factory(make, f"The backbone {name!r}")
    if not isinstance(made, nn.Module):
        raise UsageError(
            f"The backbone {name!r} must return a module of torch. Got {type(made).__name__}."
        )
    return made


def _from_timm(text: str) -> nn.Module:
    timm = import_package("timm", "timm", f"The backbone {text!r}")
    name, _, query = text.removeprefix(TIMM).partition("?")
    options = dict(parse_qsl(query))
    weights = options.pop("weights", None)
    if options:
        raise unknown_name_error("option of a timm model", next(iter(options)), ("weights",))
    settings: dict[str, Any] = {"num_classes": 0, "pretrained": weights is None}
    if weights not in (None, "none"):
        settings["checkpoint_path"] = str(Path(weights or "").expanduser())
    if name.partition(".")[0] not in timm.list_models():
        raise unknown_name_error("model of timm", name, timm.list_models())
    made: nn.Module = timm.create_model(name, **settings)
    return made


def _from_transformers(text: str) -> nn.Module:
    library = import_package("transformers", "clip", f"The backbone {text!r}")
    name = text.removeprefix(HUB)
    made: nn.Module = library.AutoModel.from_pretrained(name, trust_remote_code=False)
    return made


@cache
def model_fingerprint(name: str) -> str:
    """Return a digest of a model's code and of its weights, built under seed 0."""
    model = find_model(name)
    digest = hashlib.sha256(b"" if model.source is None else model.source.digest.encode())
    with seeded_generators(0, "cpu"):
        module = _make(name)
    digest.update(str(module).encode())
    for key, value in sorted(module.state_dict().items()):
        digest.update(f"{key} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(
            value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
        )
    return digest.hexdigest()[:32]


@cache
def model_config(name: str) -> tuple[Normalise | None, int | None]:
    """Return the statistics and the size of images that a model states; None where it does not."""
    if name.startswith(HUB):
        return _transformers_config(name.removeprefix(HUB))
    if name.startswith(TIMM) or find_model(name).module is not None:
        with seeded_generators(0, "cpu"):
            module = find_model(name).module or _make(name)
        stated: Any = getattr(module, "pretrained_cfg", None)
        if isinstance(stated, Mapping) and stated.get("mean") and stated.get("std"):
            sizes = stated.get("input_size") or (None,)
            return Normalise(tuple(stated["mean"]), tuple(stated["std"])), sizes[-1]
    return None, None


def _transformers_config(name: str) -> tuple[Normalise | None, int | None]:
    from transformers import AutoImageProcessor

    try:
        stated = AutoImageProcessor.from_pretrained(name, trust_remote_code=False)
    except Exception:  # a model of another modality, or one without a configuration
        return None, None
    mean, std = getattr(stated, "image_mean", None), getattr(stated, "image_std", None)
    sizes = getattr(stated, "crop_size", None) or getattr(stated, "size", None) or {}
    side = next((sizes.get(key) for key in ("height", "shortest_edge") if sizes.get(key)), None)
    return (Normalise(tuple(mean), tuple(std)) if mean and std else None), side


def _source_of(kind: type) -> code.CodeSource | None:
    """Return the code of a class; None if it cannot be found."""
    try:
        path = "" if kind.__module__ == "__main__" else inspect.getsourcefile(kind) or ""
        return None if "site-packages" in path else code.locate_object(kind)
    except Exception:  # a class inside a function, or of an extension: its text and weights remain
        return None


@contextmanager
def seeded_generators(seed: int, device: str | torch.device) -> Iterator[None]:
    """Seed the global generators inside the `with` block and restore them afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    on_gpu = torch.device(device).type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_gpu else [], enabled=True):
        random.seed(seed)
        np.random.seed(seed % 2**32)  # noqa: NPY002
        torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002
