from __future__ import annotations

import sys

import numpy as np
import pytest
from PIL import Image

from edgecil.data.decode import choose_shape, decode_images
from edgecil.errors import PrerequisiteError


def test_the_shorter_side_is_scaled_and_the_centre_kept(tmp_path) -> None:
    wide = np.zeros((20, 60, 3), dtype=np.uint8)
    wide[:, 20:40] = (10, 120, 250)
    Image.fromarray(wide).save(tmp_path / "wide.png")
    Image.fromarray(wide.transpose(1, 0, 2)).save(tmp_path / "tall.png")
    paths = [tmp_path / "wide.png", tmp_path / "tall.png"]
    pixels = decode_images(paths, (3, 10, 10))
    assert pixels.shape == (2, 3, 10, 10)
    centre = pixels[:, :, 2:-2, 2:-2]  # the rim may take a little from what is cut off
    assert (centre == np.array([10, 120, 250]).reshape(3, 1, 1)).all()


def test_rows_stay_rows(tmp_path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    assert choose_shape([tmp_path / "a.png"], None)[0] == (3, 4, 6)
    decoded = decode_images([tmp_path / "a.png"], (3, 4, 6))
    assert np.array_equal(decoded[0], pixels.transpose(2, 0, 1))


def test_a_large_jpeg_looks_the_same_decoded_fast(tmp_path) -> None:
    y, x = np.mgrid[:900, :1200] / 100
    waves = np.stack([np.sin(x), np.cos(y), np.sin(x + y)], axis=-1)
    Image.fromarray((127 + 120 * waves).astype(np.uint8)).save(tmp_path / "a.jpg", quality=95)
    with Image.open(tmp_path / "a.jpg") as image:
        box = (150, 0, 1050, 900)
        slow = np.asarray(image.resize((64, 64), Image.Resampling.BICUBIC, box=box))
    fast = decode_images([tmp_path / "a.jpg"], (3, 64, 64))[0].transpose(1, 2, 0)
    assert np.abs(fast.astype(int) - slow.astype(int)).max() <= 4


@pytest.mark.parametrize(
    ("mode", "colour", "shape", "expected"),
    [
        ("1", 1, 1, [255]),
        ("L", 77, 1, [77]),
        ("L", 77, 3, [77, 77, 77]),
        ("LA", (77, 0), 1, [77]),
        ("RGBA", (1, 2, 3, 0), 3, [1, 2, 3]),
        ("P", 3, 3, [9, 10, 11]),
    ],
)
def test_every_colour_mode_comes_out_as_grey_or_rgb(
    tmp_path, mode, colour, shape, expected
) -> None:
    image = Image.new(mode, (3, 3), colour)
    if mode == "P":
        image.putpalette(list(range(48)))
        image.info["transparency"] = bytes(range(16))
    image.save(tmp_path / "a.png")
    assert choose_shape([tmp_path / "a.png"], 5)[0][1:] == (5, 5)
    assert decode_images([tmp_path / "a.png"], (shape, 3, 3))[0, :, 1, 1].tolist() == expected


def test_without_pillow_one_sentence_says_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'edgecil\[train\]'"):
        decode_images([tmp_path / "a.png"], (3, 4, 4))
