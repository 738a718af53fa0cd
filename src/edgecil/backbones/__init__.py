"""Backbones, which map images to features, and the heads on top of them."""

from edgecil.backbones.heads import CosineHead, GrowingHead, GrowingLinear, ZeroLinear
from edgecil.backbones.initialise import initialise
from edgecil.backbones.named import backbone_names, backbone_status, build_backbone
from edgecil.backbones.resnet import Backbone, ResNet

__all__ = [
    "Backbone",
    "CosineHead",
    "GrowingHead",
    "GrowingLinear",
    "ResNet",
    "ZeroLinear",
    "backbone_names",
    "backbone_status",
    "build_backbone",
    "initialise",
]
