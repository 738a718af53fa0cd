"""Images of known datasets, or of a user's own, in memory and ready to be cut into tasks."""

from edgecil.data.dataset import ImageDataset, Images
from edgecil.data.formats.cifar import download_cifar100
from edgecil.data.registry import IMAGE_DATASETS, dataset_classes, dataset_status, load_dataset

__all__ = [
    "IMAGE_DATASETS",
    "ImageDataset",
    "Images",
    "dataset_classes",
    "dataset_status",
    "download_cifar100",
    "load_dataset",
]
