"""LLM-1 and LLM-5 against a server that answers as it is told to."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from edgecil.paper.language_model import UnusableAnswerError
from edgecil.paper.llm import read_tasks
from edgecil.paper.protocols import LLM_1, LLM_5
from edgecil.sequences import ClassSequence, SequenceSpace, protocol, score
from edgecil.sequences.protocols import Request
from edgecil.similarity import SimilarityMatrix
from tests.paper.language_server import Messages, serve
from tests.sequences.oracles import matrix

SPACE = SequenceSpace((3, 2, 1))
NAMES = ["apple", "bus", "cat", "dog", "elm", "fox"]
SIMILARITY = SimilarityMatrix.of(matrix("signed", 6), names=NAMES)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("EDGECIL_LLM_MODEL", "toy")


def numbers_of(messages: Messages) -> dict[str, int]:
    """How the first question numbers the classes."""
    return {
        name: int(id_) for id_, name in re.findall(r"^(\d+): (.+)$", messages[0]["content"], re.M)
    }


def in_order(*names: str) -> str:
    """Tasks of 3, 2 and 1 classes, by name."""
    return json.dumps([names[:3], names[3:5], names[5:]])


def named(answer: str, messages: Messages) -> str:
    """An answer with names, in the numbers of the question."""
    for name, number in numbers_of(messages).items():
        answer = answer.replace(f'"{name}"', str(number))
    return answer


def generate(server, monkeypatch, name: str, goal: str) -> ClassSequence:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    request = Request(SPACE, 2, similarity=SIMILARITY)
    return {"llm-1": LLM_1, "llm-5": LLM_5}[name].extreme(goal, request, request.rng()).sequence


WANTED = in_order("fox", "apple", "bus", "elm", "cat", "dog")


@pytest.mark.parametrize("goal", ["hard", "easy"])
def test_llm_1_is_the_first_answer_in_the_datasets_own_labels(monkeypatch, goal) -> None:
    with serve(lambda messages: f"Sure:\n```json\n{named(WANTED, messages)}\n```") as server:
        sequence = generate(server, monkeypatch, "llm-1", goal)
    assert sequence == ClassSequence([[5, 0, 1], [4, 2], [3]])
    asked = server.requests[0]["messages"][0]["content"]
    assert set(numbers_of(server.requests[0]["messages"])) == set(NAMES)
    assert f"as {goal} as possible" in asked
    assert "3 tasks, of 3, 2, 1 classes" in asked
    assert len(server.requests) == 1


def test_llm_5_is_told_four_times_how_its_last_answer_scored(monkeypatch) -> None:
    orders = [np.random.default_rng(seed).permutation(6) for seed in range(5)]

    def answer(messages: Messages) -> str:
        round_ = sum(message["role"] == "user" for message in messages) - 1
        return named(in_order(*(NAMES[class_] for class_ in orders[round_])), messages)

    with serve(answer) as server:
        sequence = generate(server, monkeypatch, "llm-5", "hard")
    sequences = [ClassSequence.from_order(order.tolist(), SPACE.sizes) for order in orders]
    assert sequence == sequences[4]
    assert len(server.requests) == 5
    questions = [
        message["content"]
        for message in server.requests[4]["messages"]
        if message["role"] == "user"
    ]
    assert len(questions) == 5
    for feedback, sequence in zip(questions[1:], sequences[:4], strict=True):
        assert f"S = {score(SIMILARITY, sequence):.4f}," in feedback


@pytest.mark.parametrize("name", ["llm-1", "llm-5"])
def test_the_protocol_has_both_extremes_and_a_median_and_asks_nothing_twice(
    monkeypatch, name
) -> None:
    orders = {"hard": WANTED, "easy": in_order(*NAMES)}

    def answer(messages: Messages) -> str:
        goal = "hard" if "as hard as possible" in messages[0]["content"] else "easy"
        return named(orders[goal], messages)

    with serve(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        first = protocol(name, SPACE, similarity=SIMILARITY)
        asked = len(server.requests)
        assert protocol(name, SPACE, similarity=SIMILARITY) == first
    assert [run.label for run in first] == ["hard", "median", "easy"]
    assert asked == len(server.requests) == 2 * int(name[-1])
    assert first[2].sequence == ClassSequence([[0, 1, 2], [3, 4], [5]])


def test_what_was_answered_before_is_not_asked_again_and_the_rest_comes_with_its_transcript(
    monkeypatch,
) -> None:
    before = ClassSequence([[5, 0, 1], [4, 2], [3]])
    with serve(lambda messages: named(in_order(*NAMES), messages)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        hard, median, easy = protocol(
            "llm-1", SPACE, similarity=SIMILARITY, answered={"hard": before}
        )
        everything = protocol("llm-1", SPACE, similarity=SIMILARITY)
    assert (hard.sequence, hard.transcript, median.transcript) == (before, None, None)
    assert easy == everything[2]
    assert easy.transcript is not None
    assert easy.transcript["model"] == "toy"
    assert [message["role"] for message in easy.transcript["messages"]] == ["user", "assistant"]


REFUSED = {
    "no list": ("none", "no JSON list"),
    "half a list": ("[[0, 1, 2], [3,", "no JSON list"),
    "flat": ("[0, 1, 2, 3, 4, 5]", "no JSON list of tasks, each a list"),
    "names": ('[["apple", 1, 2], [3, 4], [5]]', "'apple' is not an integer"),
    "nested": ("[[[0], 1, 2], [3, 4], [5]]", r"\[0\] is not an integer"),
    "truth": ("[[true, 1, 2], [3, 4], [5]]", "True is not an integer"),
    "too large": ("[[6, 1, 2], [3, 4], [5]]", "from 0 to 5 once.*missing are 0"),
    "negative": ("[[-1, 1, 2], [3, 4], [5]]", "Got -1"),
    "twice": ("[[0, 1, 2], [3, 3], [5]]", "Class 3 appears more than once"),
    "missing": ("[[0, 1, 2], [3], [5]]", "missing are 4"),
    "other sizes": ("[[0, 1], [2, 3], [4, 5]]", r"\[3, 2, 1\] classes. .* \[2, 2, 2\]"),
    "deep": ("[" * 100_000, "no JSON list"),
}


ANSWER = "[[1, 2, 3], [0, 4], [5]]"
AROUND = {
    "brackets before": f"I sort [by theme] the classes [0-5], e.g. [1]: {ANSWER}",
    "brackets after": f"{ANSWER} (see [1], [[2]] and [note])",
    "a draft before": f"First I thought of [[0, 1, 2], [3, 4], [5]]. Better: {ANSWER}",
    "a wrong list after": f"{ANSWER}\nnot [[0, 1], [2, 3], [4, 5]]",
    "a fence": f"```json\n{ANSWER}\n```\nThe tasks [above] are hard.",
    "an object": f'{{"tasks": {ANSWER}, "sizes": [3, 2, 1]}}',
    "digits as texts": '[["1", "2", "3"], ["0", "4"], ["5"]]',
}


@pytest.mark.parametrize("answer", AROUND.values(), ids=AROUND)
def test_the_last_list_that_fits_is_found_in_what_stands_around(answer) -> None:
    assert read_tasks(answer, SPACE) == ClassSequence([[1, 2, 3], [0, 4], [5]])


@pytest.mark.parametrize(("answer", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_sequence_of_the_space_is_refused_with_the_reason(answer, reason) -> None:
    with pytest.raises(UnusableAnswerError, match=reason):
        read_tasks(answer, SPACE)
