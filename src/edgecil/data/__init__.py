"""Images of named datasets, of folders and of array files, in memory and in one form."""

from edgecil.data.dataset import ImageDataset, Images
from edgecil.data.registry import IMAGE_DATASETS, dataset_classes, dataset_status, load_dataset

__all__ = [
    "IMAGE_DATASETS",
    "ImageDataset",
    "Images",
    "dataset_classes",
    "dataset_status",
    "load_dataset",
]
