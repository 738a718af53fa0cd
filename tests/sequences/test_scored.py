"""Sequences with their profiles, as one call gives them, and sequences from files."""

from __future__ import annotations

import json

import msgspec
import pytest

from edgecil.errors import DataError, UsageError
from edgecil.sequences import (
    PROTOCOLS,
    ClassSequence,
    ScoredSequence,
    SequenceSpace,
    choose_sequences,
    profile,
    protocol,
    score,
)
from edgecil.sequences.user_sequences import read_sequence
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import matrix

SIMILARITY = SimilarityMatrix.of(matrix("positive", 6))
OFFLINE = [name for name, entry in PROTOCOLS.items() if not entry.asks_model]


@pytest.mark.parametrize(
    "use",
    [
        lambda given: choose_sequences(given, tasks=2),
        lambda given: profile(given, ClassSequence([[0, 1], [2, 3]])),
        lambda given: score(given, ClassSequence([[0, 1], [2, 3]])),
    ],
)
def test_a_name_in_place_of_a_similarity_is_refused(use) -> None:
    with pytest.raises(UsageError, match=r"edgecil\.build_similarity\(dataset='cifar100'\)"):
        use("cifar100")


@pytest.mark.parametrize("name", OFFLINE)
def test_each_is_a_sequence_of_the_protocol_with_its_profile(name) -> None:
    scored = choose_sequences(SIMILARITY, tasks=3, protocol=name)
    labelled = protocol(name, SequenceSpace.equal(6, 3), similarity=SIMILARITY)
    assert [(run.label, run.sequence) for run in scored] == [
        (run.label, run.sequence) for run in labelled
    ]
    for run in scored:
        assert run.order == run.sequence.order
        assert run.profile == profile(SIMILARITY, run.sequence)
        assert (run.certificate is not None) == (
            name in ("optimal", "probes") and run.label != "median"
        )


def test_they_are_plain_data_that_json_carries() -> None:
    scored = choose_sequences(SIMILARITY, sizes=(1, 3, 2), protocol="optimal")
    encoded = msgspec.json.encode(scored.scored)
    assert msgspec.json.decode(encoded, type=tuple[ScoredSequence, ...]) == scored.scored


def test_an_objective_needs_the_protocol_that_uses_it() -> None:
    with pytest.raises(UsageError, match="'edge'"):
        choose_sequences(SIMILARITY, tasks=3, protocol="Edge", objective="intra")


TASKS = [[0, 1], [3, 4], [2, 5]]
NAMES = list(reversed(SIMILARITY.names))
TASKS_OF_NAMES = [[5 - id_ for id_ in task] for task in TASKS]


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ({"tasks": TASKS}, {}),
        ({"tasks": TASKS, "order": [9]}, {"increment": 2}),
        ([0, 1, 3, 4, 2, 5], {"tasks": 3}),
        ({"order": [1, 0, 3, 4, 5, 2]}, {"sizes": (2, 2, 2)}),
        ({"sequences": [{"label": "hard", "tasks": TASKS}]}, {}),
        ({"sequences": [{"label": "a", "tasks": [[0]]}, {"label": "b", "tasks": TASKS}]}, "b"),
        ({"names": NAMES, "sequences": [{"label": "a", "tasks": TASKS_OF_NAMES}]}, {}),
    ],
)
def test_every_way_to_write_an_order_is_the_same_sequence(tmp_path, content, options) -> None:
    path = tmp_path / "orders.json"
    path.write_text(json.dumps(content))
    given = {"label": options} if isinstance(options, str) else options
    assert read_sequence(path, SIMILARITY.names, **given) == ClassSequence(TASKS)


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ({"tasks": TASKS[:2]}, {}, "sum to 4"),
        ({"tasks": [[0, 1], [3, 4], [2, 6]]}, {}, "class.*0.*5"),
        ({"tasks": TASKS}, {"tasks": 2}, "sizes .3, 3.*2, 2, 2"),
        ([0, 1, 2], {}, "'tasks'"),
        ([], {}, "no class sequences"),
        ({"other": 1}, {}, "list of class"),
        ({"sequences": [{"label": "a", "tasks": TASKS}] * 2}, {}, "choose one by 'label': a"),
        ({"sequences": [{"label": "hard", "tasks": TASKS}]}, {"label": "hart"}, "mean 'hard'"),
        ({"sequences": 3}, {}, "list of class"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path, content, options, words) -> None:
    path = tmp_path / "orders.json"
    path.write_text(json.dumps(content))
    with pytest.raises((UsageError, DataError), match=words) as error:
        read_sequence(path, SIMILARITY.names, **options)
    assert "--" not in str(error.value)
