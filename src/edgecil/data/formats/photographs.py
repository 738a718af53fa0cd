"""Named datasets of photographs, listed from their official layouts with their official splits.

Where labels of test images are not public, the validation images are the test images (ImageNet,
Tiny-ImageNet), or the training images are split 80/20 inside each class with seed 0 (ImageNet-R and
-A, HAM10000, EyePACS), photographs of one lesion or patient on the same side. ImageNet-R and -A,
CUB-200, ObjectNet, OmniBenchmark and VTAB are read as PILOT distributes them, too. Class names are
from the bundled lists, or from the copy (DomainNet, ObjectNet, OmniBenchmark, VTAB).
photographs.toml has the references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgecil.classes import get_classes
from edgecil.data.decode import SUFFIXES
from edgecil.data.formats.bundled import CALTECH_TRAIN, split_class
from edgecil.data.formats.folder import class_files, list_class_folders, list_folder
from edgecil.data.items import Items, find_home
from edgecil.data.split import hold_out
from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.arrays import Ints
from edgecil.io.csv_files import check_header, parse_rows
from edgecil.io.files import check_file, read_text, read_toml
from edgecil.io.limits import PICKLE

_FilesWithLabels = tuple[Sequence[Path], Ints]

_SIZE = 224
_TINY_SIZE, _TINY_CLASSES = 64, 200
DOMAINS = ("clipart", "infograph", "painting", "quickdraw", "real", "sketch")
DOMAINNET_CLASSES = 345
# Number of classes, and folders of PILOT's archive that hold train and test.
SUBSETS = {
    "objectnet": (200, "objectnet"),
    "omnibenchmark": (300, "omnibenchmark"),
    "vtab": (50, "vtab-cil/vtab"),
}


def list_cub(name: str, root: Path, advice: str) -> Items:
    """Return CUB-200-2011: images.txt and train_test_split.txt; a class is an image's folder.

    PILOT's copy, cub/train/<class> and cub/test/<class>, has a split of its own.
    """
    for copy in (root / "cub", root):
        if (copy / "train").is_dir() and (copy / "test").is_dir():
            return _in_folders(name, copy)
    tables = ("images.txt", "train_test_split.txt")
    home = find_home(root, "CUB_200_2011", (*tables, "images"), advice)
    images = dict(_read_pairs(home / tables[0]))
    training = dict(_read_pairs(home / tables[1]))
    if training.keys() != images.keys():
        raise DataError(f"{home / tables[1]} and {home / tables[0]} list different images.")
    names, folders = _bundled_classes(name)
    codes = [path.split("/")[0] for path in images.values()]
    paths, labels = _listed(home / tables[0], home / "images", images.values(), codes, folders)
    return _split(name, names, paths, labels, [training[image] == "0" for image in images])


def list_caltech101(name: str, root: Path, advice: str) -> Items:
    """Return Caltech-101 below 101_ObjectCategories, with the split of the bundled vectors."""
    names, folders = _bundled_classes("caltech101")
    home = find_home(root, "101_ObjectCategories", folders, advice)
    paths: list[Path] = []
    labels: list[int] = []
    testing: list[bool] = []
    for label, folder in enumerate(folders):
        images = sorted((home / folder).glob("*.jpg"))
        chosen = [images[index] for index in split_class(label, len(images))]
        paths += chosen
        labels += [label] * len(chosen)
        testing += [place >= CALTECH_TRAIN for place in range(len(chosen))]
    return _split(name, names, paths, np.array(labels), testing)


def list_imagenet(name: str, root: Path, advice: str) -> Items:
    """Return ImageNet-1k or a subset of it: train/<wnid> and val/<wnid>; others are ignored."""
    home = find_home(root, "imagenet", ("train", "val"), advice)
    names, folders = _bundled_classes(name)
    return _joined(name, names, (class_files(home / part, folders) for part in ("train", "val")))


def list_tiny_imagenet(name: str, root: Path, advice: str) -> Items:
    """Return Tiny-ImageNet; labels follow the sorted wnids.txt.

    The validation images are in one folder with val_annotations.txt, or in class folders.
    """
    home = find_home(root, "tiny-imagenet-200", ("wnids.txt", "train", "val"), advice)
    wnids = sorted(read_text(home / "wnids.txt").split())
    imagenet_names, imagenet_wnids = _bundled_classes("imagenet")
    name_of_wnid = dict(zip(imagenet_wnids, imagenet_names, strict=True))
    if len(set(wnids)) != _TINY_CLASSES or not set(wnids) <= set(name_of_wnid):
        raise DataError(
            f"{home / 'wnids.txt'} must list {_TINY_CLASSES} different classes of ImageNet. It "
            f"lists {len(set(wnids))}; {advice}."
        )
    parts: list[_FilesWithLabels] = [class_files(home / "train", wnids)]
    annotations = home / "val" / "val_annotations.txt"
    if annotations.is_file():
        images, rest = zip(*_read_pairs(annotations, "\t"), strict=True)
        codes = [columns.split("\t")[0] for columns in rest]
        parts.append(_listed(annotations, home / "val" / "images", images, codes, wnids))
    else:
        parts.append(class_files(home / "val", wnids))
    names = [name_of_wnid[wnid] for wnid in wnids]
    return replace(_joined(name, names, parts), size=_TINY_SIZE)


def list_imagenet_variant(name: str, root: Path, advice: str) -> Items:
    """Return ImageNet-R or -A: one folder per WordNet id, with or without train and test."""
    has_split = (root / "train").is_dir() or (root / name / "train").is_dir()
    folders = _bundled_classes(name)[1]
    home = find_home(root, name, ("train",) if has_split else folders, advice)
    note = f"{home} has no official split: a fifth of each class is held out, not as PILOT does."
    return replace(_in_folders(name, home), notes=() if has_split else (note,))


def list_food101(name: str, root: Path, advice: str) -> Items:
    """Return Food-101: images/<class>/<id>.jpg, listed in meta/{train,test}.txt."""
    home = find_home(root, "food-101", ("images", "meta"), advice)
    names, folders = _bundled_classes(name)
    parts = []
    for part in ("train", "test"):
        table = home / "meta" / f"{part}.txt"
        files = [f"{image}.jpg" for image in read_text(table).split()]
        codes = [file.split("/")[0] for file in files]
        parts.append(_listed(table, home / "images", files, codes, folders))
    return _joined(name, names, parts)


def list_aircraft(name: str, root: Path, advice: str) -> Items:
    """Return FGVC-Aircraft, listed in data/images_variant_{trainval,test}.txt."""
    home = find_home(root, "fgvc-aircraft-2013b", ("data",), advice) / "data"
    names = get_classes(name).labels
    parts = []
    for part in ("trainval", "test"):
        table = home / f"images_variant_{part}.txt"
        images, variants = zip(*_read_pairs(table), strict=True)
        files = [f"{image}.jpg" for image in images]
        parts.append(_listed(table, home / "images", files, variants, names))
    return _joined(name, names, parts)


def list_cars(name: str, root: Path, advice: str) -> Items:
    """Return Stanford Cars from its devkit and cars_test_annos_withlabels.mat."""
    from scipy.io import loadmat

    home = find_home(root, "stanford_cars", ("devkit", "cars_train", "cars_test"), advice)
    names = get_classes(name).labels
    numbers = [str(label + 1) for label in range(len(names))]
    labelled = home / "cars_test_annos_withlabels.mat"
    if not labelled.is_file():
        labelled = home / "devkit" / labelled.name
    parts = []
    for path, folder in (
        (home / "devkit" / "cars_train_annos.mat", home / "cars_train"),
        (labelled, home / "cars_test"),
    ):
        check_file(path, PICKLE)
        try:
            table = loadmat(path, squeeze_me=True)["annotations"]
            images = list(map(str, np.atleast_1d(table["fname"])))
            codes = list(map(str, np.atleast_1d(table["class"])))
        except Exception as error:  # a damaged file may raise anything
            raise DataError(f"Cannot read {path}: {error}; {advice}.") from error
        parts.append(_listed(path, folder, images, codes, numbers))
    return _joined(name, names, parts)


def list_subset(name: str, root: Path, advice: str) -> Items:
    """Return PILOT's ObjectNet, OmniBenchmark or VTAB: train/<class> and test/<class>."""
    classes, inner = SUBSETS[name]
    home = root / inner
    if not (home / "train").is_dir():
        home = find_home(root, name, ("train", "test"), advice)
    files = list_folder(home)
    if len(files.names) != classes:
        raise DataError(
            f"{home / 'train'} must have {classes} class folders. Got {len(files.names)}; {advice}."
        )
    return replace(files, name=name, size=_SIZE, channels=3)


def list_domainnet(name: str, root: Path, advice: str) -> Items:
    """Return all domains in a copy of DomainNet, with the official split and labels."""
    for home in (root, root / "domainnet", root / "DomainNet"):
        domains = _domains_in(home)
        if domains:
            break
    else:
        raise PrerequisiteError(f"There is no list such as real_train.txt in {root}; {advice}.")
    names: dict[int, str] = {}
    paths: list[Path] = []
    labels: list[int] = []
    testing: list[bool] = []
    for domain in domains:
        for part in ("train", "test"):
            table = home / f"{domain}_{part}.txt"
            for line in read_text(table).splitlines():
                image, _, number = line.strip().rpartition(" ")
                folders = Path(image).parts
                is_below = len(folders) == 3 and folders[0] in DOMAINS and ".." not in folders
                is_row = is_below and number.isdecimal()
                if not is_row or names.setdefault(int(number), folders[1]) != folders[1]:
                    raise DataError(
                        f"Each line of {table} must contain domain/class/image and the label of "
                        f"that class. Got {line!r}."
                    )
                paths.append(home / image)
                labels.append(int(number))
                testing.append(part == "test")
    if sorted(names) != list(range(DOMAINNET_CLASSES)):
        raise DataError(
            f"The lists in {home} must have the labels 0 to {DOMAINNET_CLASSES - 1}. Got "
            f"{len(names)} labels; {advice}."
        )
    class_names = [names[label] for label in range(DOMAINNET_CLASSES)]
    items = _split(name, class_names, paths, np.array(labels), testing)
    absent = [domain for domain in DOMAINS if domain not in domains]
    if not absent:
        return items
    note = f"DomainNet is used without the domains {', '.join(absent)}, which are not in {home}."
    return replace(items, notes=(note,))


def _domains_in(home: Path) -> list[str]:
    """Return the domains of which a folder has both lists."""
    domains = []
    for domain in DOMAINS:
        lists = home / f"{domain}_train.txt", home / f"{domain}_test.txt"
        if all(path.is_file() for path in lists):
            domains.append(domain)
    return domains


def list_ham10000(name: str, root: Path, advice: str) -> Items:
    """Return HAM10000: the metadata in `root`, the images there or one folder below."""
    metadata = [root / f"HAM10000_metadata{suffix}" for suffix in (".csv", ".tab", "")]
    table = next((path for path in metadata if path.is_file()), None)
    if table is None:
        raise PrerequisiteError(f"There is no {metadata[0]} (or .tab); {advice}.")
    images, diagnoses, lesions = _read_columns(table, ("image_id", "dx", "lesion_id"))
    folders = [root, *sorted(entry for entry in root.iterdir() if entry.is_dir())]
    path_of_image = {}
    for folder in folders:
        for path in folder.iterdir():
            if path.suffix.lower() in SUFFIXES:
                path_of_image[path.stem] = path
    return _grouped(name, table, images, diagnoses, lesions, path_of_image, advice)


def list_eyepacs(name: str, root: Path, advice: str) -> Items:
    """Return EyePACS: trainLabels.csv and train/<patient>_<eye>.jpeg."""
    home = find_home(root, "eyepacs", ("trainLabels.csv", "train"), advice)
    table = home / "trainLabels.csv"
    images, levels = _read_columns(table, ("image", "level"))
    path_of_image = {path.stem: path for path in (home / "train").glob("*.jpeg")}
    patients = [image.rsplit("_", 1)[0] for image in images]
    return _grouped(name, table, images, levels, patients, path_of_image, advice)


def _grouped(
    name: str,
    table: Path,
    images: Sequence[str],
    codes: Sequence[str],
    groups: Sequence[str],
    path_of_image: dict[str, Path],
    advice: str,
) -> Items:
    """Return the images that a table lists; a whole group falls on one side of the split."""
    missing = [image for image in images if image not in path_of_image]
    if missing:
        raise DataError(
            f"The image {missing[0]} is missing, as are {len(missing) - 1} others of the "
            f"{len(images)} images in {table}; {advice}."
        )
    names, class_codes = _bundled_classes(name)
    labels = _labels(table, codes, class_codes)
    paths = [path_of_image[image] for image in images]
    return _split(name, names, paths, labels, hold_out(labels, groups))


# Each takes the dataset's name, a directory and how to get the images.
LISTINGS: dict[str, Callable[..., Items]] = {
    "cub200": list_cub,
    "caltech101-images": list_caltech101,
    **dict.fromkeys(("imagenet-r", "imagenet-a"), list_imagenet_variant),
    **dict.fromkeys(("imagenet", "imagenet100", "imagenet100-lucir"), list_imagenet),
    "tiny-imagenet": list_tiny_imagenet,
    "food101": list_food101,
    "fgvc-aircraft": list_aircraft,
    "stanford-cars": list_cars,
    **dict.fromkeys(SUBSETS, list_subset),
    "domainnet": list_domainnet,
    "ham10000": list_ham10000,
    "eyepacs": list_eyepacs,
}
HOW_TO_GET: dict[str, str] = read_toml(Path(__file__).parent / "photographs.toml")


def _in_folders(name: str, home: Path) -> Items:
    names, folders = _bundled_classes(name)
    return replace(list_class_folders(name, home, folders, names), size=_SIZE, channels=3)


def _split(
    name: str,
    names: Sequence[str],
    paths: Sequence[Path],
    labels: Ints,
    testing: Sequence[bool] | NDArray[np.bool_],
) -> Items:
    return Items(name, tuple(names), tuple(paths), labels, np.array(testing), _SIZE, channels=3)


def _joined(name: str, names: Sequence[str], parts: Iterable[_FilesWithLabels]) -> Items:
    """Return a dataset of the training part and the test part."""
    (train_paths, train_labels), (test_paths, test_labels) = parts
    paths = (*train_paths, *test_paths)
    labels = np.concatenate([train_labels, test_labels])
    return _split(name, names, paths, labels, np.arange(len(paths)) >= len(train_paths))


def _bundled_classes(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the N class names of a bundled class list, and the N codes of its image files."""
    classes = get_classes(name)
    return classes.labels, classes.folders or ()


def _listed(
    table: Path,
    folder: Path,
    files: Iterable[str],
    codes: Sequence[str],
    class_codes: Sequence[str],
) -> _FilesWithLabels:
    """Return the files that a table lists, all of them below a folder, and their labels."""
    paths = []
    for file in files:
        if Path(file).is_absolute() or ".." in Path(file).parts:
            raise DataError(f"{table} lists {file}, which is not below {folder}.")
        paths.append(folder / file)
    return paths, _labels(table, codes, class_codes)


def _labels(table: Path, codes: Sequence[str], class_codes: Sequence[str]) -> Ints:
    """Return the label of each code in a table, its position in the class list; shape (n,)."""
    label_of = {code: label for label, code in enumerate(class_codes)}
    unexpected = [code for code in codes if code not in label_of]
    if unexpected:
        raise DataError(
            f"{table} has the class {unexpected[0]!r}, which is none of the {len(class_codes)} "
            f"classes ({class_codes[0]}, …, {class_codes[-1]})."
        )
    return np.array([label_of[code] for code in codes], dtype=np.int64)


def _read_pairs(path: Path, separator: str | None = None) -> list[list[str]]:
    """Return the first word and the rest of each line."""
    rows = []
    for line in read_text(path).splitlines():
        if line.strip():
            rows.append([part.strip() for part in line.split(separator, 1)])
    if not rows or any(len(row) != 2 for row in rows):
        raise DataError(f"Each line of {path} must contain an image and a value.")
    return rows


def _read_columns(path: Path, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return these columns of a .csv (or tab-separated) file with a header."""
    text = read_text(path)
    delimiter = "\t" if "\t" in text.split("\n", 1)[0] else ","
    rows = [list(map(str.strip, row)) for row in parse_rows(text, str(path), delimiter)]
    header, *rows = rows or [[]]
    check_header(header, str(path))
    missing = [column for column in columns if not rows or column not in header]
    if missing:
        raise DataError(f"{path} must have a column headed {missing[0]!r} and rows below it.")
    records = [dict(zip(header, row, strict=False)) for row in rows]
    for number, record in enumerate(records, start=2):
        if not all(record.get(column) for column in columns):
            raise DataError(f"Row {number} of {path} has no value for {', '.join(columns)}.")
    values = []
    for column in columns:
        values.append(tuple(record[column] for record in records))
    return values
