"""Images of named datasets, of folders and of array files, in memory and in one form."""

from edgecil.data.dataset import Dataset, Examples
from edgecil.data.load import IMAGE_DATASETS, dataset_classes, dataset_status, load_dataset

__all__ = [
    "IMAGE_DATASETS",
    "Dataset",
    "Examples",
    "dataset_classes",
    "dataset_status",
    "load_dataset",
]
