"""What PILOT and HiDe-Prompt import from timm, scikit-learn and easydict, for our transformer.

None of these packages is needed to compare learners: the reference's own code is built around our
network. Names that its modules import but never use here raise an error when they are called.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from scipy.cluster.vq import kmeans2
from torch import nn

from edgecil.backbones.vit import ViT

# Parts of the references' networks that are not the pre-trained transformer's.
ADDED_BY_LEARNERS = ("patch_embed.", "adapt", "head.", "prompt", "mlp.net.", "mlp.norm.")


class Mlp(nn.Module):
    """The MLP of a block, under timm's names."""

    def __init__(
        self, in_features: int, hidden_features: int, act_layer: Any = nn.GELU, drop: float = 0.0
    ) -> None:
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden_features)
        self.act = act_layer()
        self.fc2 = nn.Linear(hidden_features, in_features)
        self.drop = nn.Dropout(drop)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.drop(self.fc2(self.drop(self.act(self.fc1(tokens)))))


class Stem(nn.Module):
    """Our transformer's patch embedding; it never leaves evaluation mode."""

    def __init__(self, vit: ViT) -> None:
        super().__init__()
        self.ours = vit.patch_embed
        self.grid_size = vit.grid
        self.num_patches = vit.grid[0] * vit.grid[1]

    def train(self, mode: bool = True) -> Stem:
        return super().train(False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.ours(images)


class KMeans:
    """scikit-learn's k-means with a single start; SciPy's underneath."""

    def __init__(self, n_clusters: int, **_: Any) -> None:
        self.n_clusters = n_clusters

    def fit(self, features: np.ndarray) -> None:
        for seed in np.random.randint(2**31, size=20):  # noqa: NPY002
            _, self.labels_ = kmeans2(features, self.n_clusters, minit="++", rng=int(seed))
            if len(np.unique(self.labels_)) == self.n_clusters:
                return
        raise RuntimeError(f"k-means left one of {self.n_clusters} clusters empty 20 times.")


def named_apply(apply: Any, module: nn.Module) -> None:
    """Call a function with each submodule and its name."""
    for name, part in module.named_modules():
        if part is not module:
            apply(module=part, name=name)


def accuracy(logits: torch.Tensor, labels: torch.Tensor, topk: tuple[int, ...] = (1,)) -> list[Any]:
    """Per cent of labels among the k largest logits."""
    largest = logits.topk(min(max(topk), logits.shape[1]), dim=1).indices
    hits = largest == labels[:, None]
    return [100.0 * hits[:, :k].any(dim=1).float().mean() for k in topk]


def create_optimizer(args: Any, model: Any) -> torch.optim.Optimizer:
    """Adam on a model's parameters, or on groups of parameters."""
    if isinstance(model, nn.Module):
        model = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return torch.optim.Adam(model, lr=args.lr, weight_decay=args.weight_decay)


class _Names(ModuleType):
    """A module that has every name; those not set raise an error when they are called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def missing(*_: Any, **__: Any) -> Any:
            raise NotImplementedError(f"{self.__name__}.{name} has no stand-in.")

        return missing


def install() -> None:
    """Put the stand-ins where the reference's code imports them from."""
    layers = {"Mlp": Mlp, "trunc_normal_": nn.init.trunc_normal_}
    given: dict[str, dict[str, Any]] = {
        "timm": {},
        "timm.data": {},
        "timm.models": {},
        "timm.models.helpers": {"named_apply": named_apply},
        "timm.models.layers": layers,
        "timm.models.layers.weight_init": layers,
        "timm.models.registry": {"register_model": lambda function: function},
        "timm.models.vision_transformer": {},
        "timm.optim": {"create_optimizer": create_optimizer},
        "timm.scheduler": {},
        "timm.utils": {"accuracy": accuracy},
        "sklearn": {},
        "sklearn.cluster": {"KMeans": KMeans},
        "easydict": {"EasyDict": SimpleNamespace},
    }
    for name, values in given.items():
        module = _Names(name)
        module.__path__ = []
        module.__spec__ = ModuleSpec(name, None, is_package=True)
        for key, value in values.items():
            setattr(module, key, value)
        sys.modules[name] = module


def sizes(vit: ViT) -> dict[str, Any]:
    """Arguments of timm's VisionTransformer that give ours its shape."""
    layout = vit.layout
    return {
        "patch_size": layout.patch,
        "embed_dim": layout.width,
        "depth": layout.depth,
        "num_heads": layout.heads,
        "mlp_ratio": layout.hidden / layout.width,
        "qkv_bias": True,
    }


def load(network: nn.Module, vit: ViT, *, split: bool = False, prompts: int = 0) -> nn.Module:
    """Our frozen weights in a network with timm's names, apart from what it adds.

    Args:
        network: a VisionTransformer of the reference.
        vit: ours.
        split: whether queries, keys and values have their own maps, and the MLP no prefix.
        prompts: prompt tokens after the class token, which get its position.
    """
    weights = {
        name: value.detach().clone()
        for name, value in vit.state_dict().items()
        if not name.startswith("patch_embed.")
    }
    first, others = weights["pos_embed"].split([1, vit.pos_embed.shape[1] - 1], dim=1)
    weights["pos_embed"] = torch.cat([first.expand(-1, 1 + prompts, -1), others], dim=1)
    if split:
        for name in [name for name in weights if ".qkv." in name]:
            parts = weights.pop(name).chunk(3)
            for part, value in zip(("q_proj", "k_proj", "v_proj"), parts, strict=True):
                weights[name.replace("qkv", part)] = value
        for name in [name for name in weights if ".mlp." in name]:
            weights[name.replace("mlp.", "")] = weights.pop(name)
    result = network.load_state_dict(weights, strict=False)
    missing = [
        name for name in result.missing_keys if not any(part in name for part in ADDED_BY_LEARNERS)
    ]
    if result.unexpected_keys or missing:
        raise RuntimeError(f"Weights do not fit: {result.unexpected_keys}, {missing}.")
    for name, parameter in network.named_parameters():
        if name in weights or name.startswith("patch_embed."):
            parameter.requires_grad_(False)
    return network
