"""Every file of the package is edgecil's own, or attributed; the licences cover the wheel."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import edgecil
from edgecil.io.files import read_toml

PACKAGE = Path(edgecil.__file__).parent
ROOT = Path(__file__).parents[1]
ATTRIBUTION = read_toml(PACKAGE / "ATTRIBUTION.toml")
WORKS = ATTRIBUTION["work"]
FACTS = "facts"  # such as names and published numbers, which need no licence


def data_files() -> list[str]:
    """Return the files of the package that are no code."""
    paths = [path for path in PACKAGE.rglob("*") if path.is_file()]
    names = [path.relative_to(PACKAGE).as_posix() for path in paths]
    return sorted(name for name in names if not re.search(r"\.(py|pyi|pyc)$", name))


def patterns_of(name: str) -> list[str]:
    """Return the patterns that a file matches, of our own files and of works."""
    patterns = [*ATTRIBUTION["own"], *(entry for work in WORKS for entry in work["files"])]
    return [pattern for pattern in patterns if fnmatchcase(name, pattern)]


def test_every_data_file_is_attributed_once() -> None:
    names = data_files()
    assert len(names) > 60
    for name in names:
        assert len(patterns_of(name)) == 1, f"{name} is not in ATTRIBUTION.toml, or twice"


def test_every_attribution_is_of_a_file() -> None:
    names = data_files()
    patterns = [*ATTRIBUTION["own"], *(entry for work in WORKS for entry in work["files"])]
    for pattern in patterns:
        assert any(fnmatchcase(name, pattern) for name in names), pattern


def test_an_unattributed_file_is_found() -> None:
    assert patterns_of("data/bundled/other.npy.xz") == []
    assert patterns_of("classes/data/other.tsv") == []


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work["title"])
def test_a_work_has_its_creators_its_source_and_its_changes(work) -> None:
    assert work["creators"]
    assert work["source"]
    assert (work["license"] == FACTS) != bool(work.get("changes"))


def test_the_expression_and_the_files_of_licences_cover_the_wheel() -> None:
    project = read_toml(ROOT / "pyproject.toml")["project"]
    used = {"MIT", *(work["license"] for work in WORKS)} - {FACTS}
    assert set(project["license"].split(" AND ")) == used
    covered = {path for pattern in project["license-files"] for path in ROOT.glob(pattern)}
    assert {path.name for path in covered} == {"LICENSE", "ATTRIBUTION.toml", "Apache-2.0.txt"}
    for work in WORKS:
        if work["license"].startswith("CC-BY"):  # whose text may be a link
            assert "creativecommons.org/licenses/by/4.0" in ATTRIBUTION["licences"][work["license"]]


def test_classifiers_name_the_pythons_that_ci_runs() -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    project = read_toml(ROOT / "pyproject.toml")["project"]
    named = set(re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"])))
    assert set(re.findall(r'"(3\.\d+)"', text)) == named
    assert min(named, key=lambda version: int(version[2:])) in project["requires-python"]
    assert any(line.startswith("Operating System ::") for line in project["classifiers"])
