"""Every verb that answers has one JSON schema."""

from __future__ import annotations

import jsonschema
import msgspec
import pytest

from edgecil.cli import answers
from edgecil.cli.main import VERBS
from edgecil.estimation.analysis import SCHEMA
from tests.cli.conftest import SCHEMAS, Cli

LIGHT = (
    ("datasets",),
    ("encoders",),
    ("backbones",),
    ("methods",),
    ("protocols",),
    ("recipes",),
    ("similarity", "ham10000"),
    ("sequences", "ham10000", "--tasks", 7),
    ("sequences", "ham10000", "--tasks", 7, "--format", "pycil"),
    ("space", "--classes", 6, "--tasks", 3),
)


def test_every_verb_names_its_schema() -> None:
    tags = {f"edgecil.{verb}/1" for verb in VERBS} - {"edgecil.completion/1", "edgecil.analyze/1"}
    assert tags <= SCHEMAS.keys()
    assert SCHEMA == "edgecil.analysis/2"


@pytest.mark.parametrize("words", LIGHT, ids=lambda words: " ".join(map(str, words)))
def test_answers_follow_their_json_schema(cli: Cli, words: tuple[object, ...]) -> None:
    answer = cli(*words, "--json").json
    schema = msgspec.json.schema(SCHEMAS[answer["schema"]])
    jsonschema.validate(answer, schema)
    assert next(iter(answer)) == "schema"


@pytest.mark.parametrize("tag", sorted(SCHEMAS))
def test_every_schema_can_be_written(tag: str) -> None:
    schema = msgspec.json.schema(SCHEMAS[tag])
    [name] = [name for name, part in schema["$defs"].items() if "schema" in part["properties"]]
    assert schema["$defs"][name]["properties"]["schema"] == {"enum": [tag]}
    assert answers.Answer.__doc__
