"""Which classes of a dataset take part: options that data, similarities and orders share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgecil.classes.lists import select_classes
from edgecil.options import Options, option

if TYPE_CHECKING:  # listing class names must not wait for NumPy
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class ClassChoice(Options):
    """Which classes of a dataset take part."""

    classes: int | None = option(
        "number of classes to use, the first ones in label order; all by default"
    )
    classes_seed: int | None = option(
        "draw the classes with this seed instead of taking the first ones"
    )
    class_ids: tuple[int, ...] | None = option("use exactly these classes, in this order")

    def select(self, total: int) -> NDArray[np.int64]:
        """Return the ids of these classes among all of a dataset."""
        return select_classes(total, count=self.classes, seed=self.classes_seed, ids=self.class_ids)
