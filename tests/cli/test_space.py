from __future__ import annotations

import math
from typing import Any

import pytest

from tests.cli.conftest import Cli

CIFAR = ("--classes", 100, "--tasks", 10)


def space(cli: Cli, *words: object) -> dict[str, Any]:
    answer: dict[str, Any] = cli("paper", "space", *words, "--json").json
    return answer


def test_the_size_and_the_bounds_are_exact(cli: Cli) -> None:
    answer = space(cli, *CIFAR, "--epsilon", 0.1, "--delta", 0.05, "--accuracy-range", 0.1)
    assert answer["size"] == str(math.factorial(100) // math.factorial(10) ** 10)
    assert answer["log10_size"] == pytest.approx(92.3724, abs=1e-4)
    runs = {(bound["name"], bound["accuracy_range"]): bound["runs"] for bound in answer["bounds"]}
    assert runs["theorem1", 1.0] == 10820
    assert runs["theorem2", 0.1] == 109
    assert runs["hoeffding-serfling", 1.0] == 185


def test_people_see_them_too(cli: Cli) -> None:
    answer = cli("paper", "space", *CIFAR, "--accuracy-range", 0.1, "--mean-similarity", 0.6)
    assert (answer.code, answer.err) == (0, "")
    for words in ("|Ω| = about 10^92.37", "10,820", "109", "Theorem 4"):
        assert words in answer.out
    assert "|Ω| = 90" in cli("paper", "space", "--classes", 6, "--tasks", 3).out


def test_a_similarity_file_gives_theorem_3(cli: Cli) -> None:
    assert cli("similarity", "ham10000", "--out", "D.npz").code == 0
    answer = space(cli, "--tasks", 7, "--similarity", "D.npz")
    assert answer["classes"] == 7
    stated, measured = (answer["theorem_3"][name] for name in ("expected_stated", "expected"))
    assert stated == pytest.approx([measured / 6, measured / 3])
    assert "Theorem 3" in cli("paper", "space", "--tasks", 7, "--similarity", "D.npz").out
