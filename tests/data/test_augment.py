from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from PIL import Image, ImageEnhance, ImageOps

from edgecil.data.augment import Normalise, Pipeline, channel_statistics, parse_steps
from edgecil.data.augment.pipeline import STEPS
from edgecil.data.augment.policy import OPERATIONS, _tables, auto_augment
from edgecil.data.augment.steps import (
    colour_jitter,
    cutout,
    horizontal_flip,
    random_crop,
    resized_crop,
    to_float,
)
from edgecil.errors import UsageError
from tests.toys import seeded

sizes = st.tuples(st.integers(1, 5), st.sampled_from([1, 3]), st.integers(2, 9), st.integers(2, 9))
seeds = st.integers(0, 2**32)
every_step = pytest.mark.parametrize("name", STEPS)


def noise(*shape: int, seed: int = 9) -> torch.Tensor:
    """Images whose pixels all differ, as bytes would be: multiples of 1/255."""
    return torch.randint(256, shape, generator=seeded(seed)) / 255


@every_step
@given(size=sizes, seed=seeds)
def test_every_step_keeps_shape_range_and_input_and_repeats(name, size, seed) -> None:
    apply = STEPS[name]
    images = noise(*size)
    before, state = images.clone(), torch.get_rng_state()
    first = apply(images, seeded(seed))
    assert first.shape == images.shape
    assert first.dtype == torch.float32
    assert first.min() >= 0
    assert first.max() <= 1
    assert torch.equal(images, before)
    assert torch.equal(first, apply(images, seeded(seed)))
    assert torch.equal(torch.get_rng_state(), state)


@every_step
def test_other_seeds_change_images_differently(name) -> None:
    images = noise(32, 3, 16, 16)
    first = STEPS[name](images, seeded(1))
    assert not torch.equal(first, STEPS[name](images, seeded(2)))


@given(size=sizes, seed=seeds, padding=st.integers(0, 4))
def test_a_crop_is_an_exact_shift_of_the_padded_image(size, seed, padding) -> None:
    images = noise(*size)
    cropped = random_crop(images, seeded(seed), padding=padding)
    height, width = size[2:]
    for image, result in zip(images, cropped, strict=True):
        padded = torch.zeros(size[1], height + 2 * padding, width + 2 * padding)
        padded[:, padding : padding + height, padding : padding + width] = image
        shifts = [
            padded[:, top : top + height, left : left + width]
            for top in range(2 * padding + 1)
            for left in range(2 * padding + 1)
        ]
        assert any(torch.equal(result, shift) for shift in shifts)


def test_every_crop_is_about_equally_likely() -> None:
    images = torch.zeros(9000, 1, 3, 3)
    images[:, :, 1, 1] = 1
    shares = random_crop(images, seeded(), padding=1).mean(dim=0)
    assert torch.allclose(shares, torch.full((1, 3, 3), 1 / 9), atol=0.012)


@given(size=sizes, seed=seeds)
def test_a_flip_mirrors_exactly_or_not_at_all(size, seed) -> None:
    images = noise(*size)
    for image, result in zip(images, horizontal_flip(images, seeded(seed)), strict=True):
        assert torch.equal(result, image) or torch.equal(result, image.flip(-1))


def test_about_half_of_the_images_are_flipped() -> None:
    images = noise(1, 1, 4, 4).expand(2000, -1, -1, -1)
    flipped = (horizontal_flip(images, seeded()) != images).flatten(1).any(dim=1)
    assert flipped.float().mean().item() == pytest.approx(0.5, abs=0.04)


@given(size=sizes, seed=seeds, side=st.integers(0, 5))
def test_a_cutout_is_one_black_rectangle_no_larger_than_its_side(size, seed, side) -> None:
    images = torch.ones(size)
    for image in cutout(images, seeded(seed), size=side):
        assert (image == image[0]).all()
        hole = image[0] == 0
        rows, columns = int(hole.any(dim=1).sum()), int(hole.any(dim=0).sum())
        assert int(hole.sum()) == rows * columns
        assert min(rows, columns) >= min(1, side)  # its centre lies inside
        assert max(rows, columns) <= side


def test_a_cutout_inside_the_image_has_its_full_area() -> None:
    images = torch.ones(500, 1, 32, 32)
    areas = (cutout(images, seeded()) == 0).flatten(1).sum(dim=1)
    assert areas.max() == 16 * 16
    assert areas.min() >= 8 * 8


def test_brightness_scales_each_image_by_a_factor_in_its_range() -> None:
    images = torch.full((1000, 3, 2, 2), 0.5)
    factors = colour_jitter(images, seeded(), brightness=0.2)[:, 0, 0, 0] * 2
    assert factors.min().item() == pytest.approx(0.8, abs=0.01)
    assert factors.max().item() == pytest.approx(1.2, abs=0.01)


PILLOW: dict[str, tuple[float, Callable[[Image.Image], Image.Image], int]] = {
    "invert": (0.0, ImageOps.invert, 0),
    "solarise": (2 / 9, lambda image: ImageOps.solarize(image, 199), 0),
    "posterise": (7 / 9, lambda image: ImageOps.posterize(image, 5), 0),
    "autocontrast": (0.0, ImageOps.autocontrast, 1),
    "equalise": (0.0, ImageOps.equalize, 0),
    "brightness": (-7 / 9, lambda image: ImageEnhance.Brightness(image).enhance(0.3), 1),
    "contrast": (6 / 9, lambda image: ImageEnhance.Contrast(image).enhance(1.6), 2),
    "colour": (8 / 9, lambda image: ImageEnhance.Color(image).enhance(1.8), 2),
    "sharpness": (-3 / 9, lambda image: ImageEnhance.Sharpness(image).enhance(0.7), 1),
    "rotate": (0.0, lambda image: image.rotate(0), 0),
    "shear-y": (8 / 9, lambda image: _pillow_affine(image, (1, 0, 0, 0.8 / 3, 1, 0)), 0),
    "translate-x": (-1.0, lambda image: _pillow_affine(image, (1, 0, -15, 0, 1, 0)), 0),
    "translate-y": (1.0, lambda image: _pillow_affine(image, (1, 0, 0, 0, 1, 15)), 0),
}


def _pillow_affine(image: Image.Image, map_: tuple[float, ...]) -> Image.Image:
    grey = 128 if image.mode == "L" else (128, 128, 128)
    return image.transform(image.size, Image.Transform.AFFINE, map_, fillcolor=grey)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("channels", [1, 3])
def test_operations_of_the_policy_do_what_pillow_does(name, channels) -> None:
    strength, oracle, tolerance = PILLOW[name]
    side = 33  # 150/331 of it is close to 15 pixels
    images = 0.2 + 0.6 * noise(4, channels, side, side) ** 2
    images[3] = 0.4  # a constant image survives stretching and levelling
    pixels = (images * 255).round()
    changed = OPERATIONS[name](pixels / 255, torch.full((4,), strength)) * 255
    for image, result in zip(pixels, changed, strict=True):
        array = image.permute(1, 2, 0).to(torch.uint8).numpy()
        picture = Image.fromarray(array[..., 0] if channels == 1 else array)
        expected = np.asarray(oracle(picture), dtype=np.float32)
        actual = result.permute(1, 2, 0).numpy().reshape(expected.shape)
        assert np.abs(actual - expected).max() <= tolerance + 0.51


def test_a_turn_of_the_policy_is_at_most_thirty_degrees_either_way() -> None:
    images = torch.zeros(2, 1, 41, 41)
    images[:, :, 20, 38] = 1  # 18 pixels right of the centre
    turned = OPERATIONS["rotate"](images, torch.tensor([1.0, -1.0]))
    rows = [int(image[0].eq(1).nonzero()[0, 0]) for image in turned]
    assert sorted(rows) == [11, 29]  # 18 · sin 30° = 9 up and down


def test_the_policy_has_twenty_five_pairs_of_known_operations() -> None:
    kinds, chances, levels = _tables(torch.device("cpu"))
    assert kinds.shape == chances.shape == levels.shape == (25, 2)
    assert kinds.unique().tolist() == list(range(len(OPERATIONS)))


def test_what_the_policy_does_to_an_image_does_not_depend_on_the_others() -> None:
    images = noise(16, 3, 12, 12)
    others = images.clone()
    others[8:] = 1 - others[8:]
    first, second = auto_augment(images, seeded()), auto_augment(others, seeded())
    assert torch.equal(first[:8], second[:8])


@given(size=sizes, seed=seeds)
def test_statistics_are_those_of_the_floats(size, seed) -> None:
    pixels = torch.randint(256, size, generator=seeded(seed), dtype=torch.uint8)
    actual = channel_statistics(pixels)
    values = pixels.double() / 255
    assert actual.mean == pytest.approx(values.mean(dim=(0, 2, 3)).tolist())
    spread = values.std(dim=(0, 2, 3), correction=0)
    assert actual.std == pytest.approx(torch.where(spread > 0, spread, 1.0).tolist())


def test_statistics_of_nothing_and_of_floats_are_refused() -> None:
    for wrong in (torch.zeros(0, 1, 2, 2, dtype=torch.uint8), torch.zeros(1, 1, 2, 2)):
        with pytest.raises(UsageError, match="uint8 pixels"):
            channel_statistics(wrong)
    with pytest.raises(UsageError, match="positive std"):
        Normalise((0.5,), (0.0,))
    with pytest.raises(UsageError, match="uint8"):
        to_float(torch.zeros(1))


def test_a_pipeline_does_its_steps_in_order_and_then_normalises() -> None:
    pixels = torch.randint(256, (6, 3, 8, 8), generator=seeded(), dtype=torch.uint8)
    mean, std = (0.5, 0.4, 0.3), (0.2, 0.25, 0.3)
    pipeline = Pipeline(("crop:2", "flip", "cutout:3"), mean, std)
    generator = seeded(4)
    images = random_crop(to_float(pixels), generator, padding=2)
    images = cutout(horizontal_flip(images, generator), generator, size=3)
    assert torch.equal(pipeline(pixels, seeded(4)), Normalise(mean, std)(images))
    assert torch.equal(pipeline.plain(pixels), Normalise(mean, std)(to_float(pixels)))


def test_pipelines_compare_and_travel_between_processes() -> None:
    pipeline = Pipeline(parse_steps("crop:4, colour:0.1,autoaugment"), (0.5,), (0.5,))
    copy = pickle.loads(pickle.dumps(pipeline))
    assert copy == pipeline
    assert hash(copy) == hash(pipeline)
    pixels = torch.randint(256, (3, 1, 8, 8), generator=seeded(), dtype=torch.uint8)
    assert torch.equal(copy(pixels, seeded()), pipeline(pixels, seeded()))
    assert parse_steps("") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crops", "'crops'.*'crop'"),
        ("flip:2", "takes no number"),
        ("crop:x", "must be an integer"),
        ("crop:-1", "0 or more"),
        ("colour:nan", "must be a number"),
    ],
)
def test_wrong_steps_are_told(text, message) -> None:
    with pytest.raises(UsageError, match=message):
        Pipeline((text,), (0.5,), (0.5,))
    with pytest.raises(UsageError, match=message):
        parse_steps(f"crop,{text}")


def test_a_resized_crop_of_everything_is_the_image() -> None:
    images = torch.rand(3, 2, 6, 6)
    ramp = torch.linspace(0, 1, 16).expand(200, 1, 16, 16)
    generator = torch.Generator().manual_seed(0)
    cropped = resized_crop(ramp, generator, least=0.05)
    assert cropped.shape == ramp.shape
    spans = cropped[:, 0, 0, -1] - cropped[:, 0, 0, 0]  # width of each crop, less one pixel
    assert 0.1 < float(spans.min()) < 0.4
    assert float(spans.max()) > 0.9
    whole = resized_crop(images, generator, least=1.0)
    assert whole.shape == images.shape
    assert torch.all((whole >= 0) & (whole <= 1))


def test_larger_images_are_cropped_at_the_centre_or_by_the_step() -> None:
    pixels = torch.arange(64, dtype=torch.uint8).reshape(1, 1, 8, 8)
    plain = Pipeline((), (0.0,), (1.0,), (4, 4))
    assert torch.equal(plain.plain(pixels) * 255, pixels[:, :, 2:6, 2:6].float())
    generator = torch.Generator().manual_seed(0)
    step = Pipeline(("resized-crop:0.5", "flip"), (0.0,), (1.0,), (4, 4))
    assert step(pixels, generator).shape == (1, 1, 4, 4)
    with pytest.raises(UsageError, match=r"at least 9×9 pixels\. Got 8×8"):
        Pipeline((), (0.0,), (1.0,), (9, 9)).plain(pixels)
