"""Every verb that answers has one JSON schema."""

from __future__ import annotations

from typing import get_args

import jsonschema
import pytest

from edgecil.catalogue import Kind
from edgecil.cli.main import all_verbs, answer_types
from edgecil.cli.output import schema_name
from edgecil.estimation.analysis import SCHEMA
from tests.cli.conftest import KINDS, Cli, validator

LIGHT = (
    *(("list", kind) for kind in get_args(Kind)),
    ("list", "recipes", "--show", "demo"),
    ("similarity", "ham10000"),
    ("sequences", "ham10000", "--tasks", 7),
    ("sequences", "ham10000", "--tasks", 7),
    ("paper", "space", "--classes", 6, "--tasks", 3),
)


def test_every_verb_names_its_schema() -> None:
    assert answer_types().keys() == all_verbs().keys()
    assert None not in answer_types().values()
    assert schema_name("analyze") == SCHEMA == "edgecil.analysis/6"
    assert schema_name("paper space") == "edgecil.paper-space/1"


@pytest.mark.parametrize("words", LIGHT, ids=lambda words: " ".join(map(str, words)))
def test_answers_follow_the_json_schema_of_their_verb(cli: Cli, words: tuple[object, ...]) -> None:
    answer = cli(*words, "--json").json
    assert answer["schema"] in (schema_name(str(words[0])), "edgecil.paper-space/1")
    assert next(iter(answer)) == "schema"


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_schema_requires_its_name_and_refuses_other_answers(name: str) -> None:
    assert validator(name).schema["properties"]["schema"] == {"const": name}
    with pytest.raises(jsonschema.ValidationError):
        validator(name).validate({"schema": "edgecil.other/1"})
