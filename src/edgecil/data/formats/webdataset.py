"""WebDataset: tar archives whose members with the same name up to the first dot are one sample.

A sample has an image (`0001.jpg`) and its label: `0001.cls` holds a number or a class name, or
`0001.json` has one as `label` or `cls`. `classnames.txt` or `classes.txt` in the dataset's folder
holds the class names in label order, one per line. Archives must not be compressed: images are
read at their place in the archive.
"""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from edgecil.data.decode import SUFFIXES
from edgecil.data.formats.shards import Shard, list_shards
from edgecil.data.image_files import ImageFiles
from edgecil.data.packed import FilePart
from edgecil.errors import DataError
from edgecil.io.files import check_file, parse_json, read_text

if TYPE_CHECKING:
    from typing_extensions import Self

NAME_FILES = ("classnames.txt", "classes.txt")

_LABEL, _FIELDS = "cls", "json"
_LARGEST_LABEL = 2**20  # bytes of a label's file
_LARGEST_HEADER = 2**20  # bytes of a member's long name or further fields
_LONG_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


def list_webdataset(root: Path, paths: Sequence[Path]) -> ImageFiles:
    """Return the images in tar archives."""
    folder = root if root.is_dir() else root.parent
    file = next((folder / name for name in NAME_FILES if (folder / name).is_file()), None)
    names = None
    if file is not None:
        names = tuple(line.strip() for line in read_text(file).splitlines() if line.strip())
    return list_shards(root, paths, read_archive, names)


class _Member(tarfile.TarInfo):
    """A member of an archive; long headers, which tarfile reads whole, are refused by their size.

    A sparse file of a few kilobytes on disk can have a header of many gigabytes.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return a member by its first 512 bytes."""
        member = super().frombuf(buf, encoding, errors)
        if member.type in _LONG_HEADERS and not 0 <= member.size <= _LARGEST_HEADER:
            raise ValueError(f"a header of {member.size:,} bytes")
        return member


def read_archive(path: Path) -> Shard:
    """Return the samples of one archive, in its order."""
    length = check_file(path)
    images: dict[str, FilePart] = {}
    labels: dict[str, int | str] = {}
    labelled: set[tuple[str, str]] = set()  # sample and kind of the file with its label
    try:
        with tarfile.open(path, "r:", tarinfo=_Member) as archive:
            while (member := archive.next()) is not None:
                archive.members = []  # type: ignore[attr-defined]  # a shard may have a million
                if member.size < 0:  # the next member would be one before it, forever
                    raise DataError(f"{path} is damaged: {member.name} has a negative size.")
                if not member.isreg() or member.issparse():
                    continue
                if member.offset_data + member.size > length:
                    raise DataError(f"{path} ends within {member.name}; this copy is incomplete.")
                key, kind = _parts(member.name)
                if f".{kind.rpartition('.')[2]}" in SUFFIXES:
                    if key in images:
                        raise DataError(f"The sample {key!r} of {path} has more than one image.")
                    place = member.offset_data
                    images[key] = FilePart(path, place, member.size, member.name)
                elif kind in (_LABEL, _FIELDS) and member.size <= _LARGEST_LABEL:
                    file = archive.extractfile(member)
                    text = b"" if file is None else file.read()
                    label = _label(text, kind, f"{member.name} in {path}")
                    if label is None:
                        continue
                    if (key, kind) in labelled:
                        raise DataError(f"The sample {key!r} of {path} has more than one label.")
                    labelled.add((key, kind))
                    if kind == _LABEL or key not in labels:
                        labels[key] = label
    except (
        tarfile.TarError,
        OSError,
        EOFError,
        ValueError,
        OverflowError,
        RecursionError,  # long chains of headers for one member
    ) as error:
        raise DataError(
            f"Cannot read {path}: {error}; shards must be tar archives without compression."
        ) from error
    missing = next((key for key in images if key not in labels), None)
    if missing is not None:
        raise DataError(
            f"The sample {missing!r} of {path} has no label; each image needs a .cls file, or a "
            ".json file with 'label', of the same name."
        )
    return Shard(list(images.values()), [labels[key] for key in images])  # type: ignore[arg-type]


def _parts(name: str) -> tuple[str, str]:
    """Return a member's sample and kind.

    >>> _parts("train/0001.left.JPG")
    ('train/0001', 'left.jpg')
    """
    path = PurePosixPath(name)
    stem, _, kind = path.name.partition(".")
    return (path.parent / stem).as_posix(), kind.lower()


def _label(content: bytes, kind: str, source: str) -> int | str | None:
    """Return the label in a file; None if the file is for something else."""
    text = content.decode("utf-8", "replace").strip()
    value: Any = text
    if kind == _FIELDS:
        fields = parse_json(text, source)
        value = fields.get("label", fields.get("cls")) if isinstance(fields, dict) else None
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            return None
    if isinstance(value, str):
        number = value.removeprefix("-")
        return int(value) if number.isascii() and number.isdigit() and len(number) < 10 else value
    return int(value)
