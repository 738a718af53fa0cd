from __future__ import annotations

import math

import pytest

from tests.cli.conftest import Cli

CIFAR = ("space", "--classes", 100, "--tasks", 10)


def test_the_size_and_the_bounds_are_exact(cli: Cli) -> None:
    answer = cli(*CIFAR, "--epsilon", 0.1, "--delta", 0.05, "--range", 0.1, "--json").json
    assert answer["size"] == str(math.factorial(100) // math.factorial(10) ** 10)
    assert answer["log10_size"] == pytest.approx(92.3724, abs=1e-4)
    assert answer["bounds"]["theorem1"] == 10820
    assert answer["bounds"]["theorem2"] == 109
    assert answer["bounds"]["hoeffding_serfling"] == 185


def test_what_three_runs_miss_is_told(cli: Cli) -> None:
    missed = cli(*CIFAR, "--json").json["missed"]
    assert [row["deviations"] for row in missed] == [1, 2, 3]
    assert missed[1]["probability"] == pytest.approx(0.9545**3, abs=1e-3)


def test_people_see_them_too(cli: Cli) -> None:
    answer = cli(*CIFAR, "--range", 0.1, "--mean-similarity", 0.6)
    assert (answer.code, answer.err) == (0, "")
    for words in ("|Ω| = about 10^92.37", "10,820", "109", "Theorem 4"):
        assert words in answer.out
    assert "|Ω| = 90" in cli("space", "--classes", 6, "--tasks", 3).out


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        (("--base", 50, "--increment", 10), [50, 10, 10, 10, 10, 10]),
        (("--increment", 25), [25, 25, 25, 25]),
        (("--sizes", "50,30,20"), [50, 30, 20]),
    ],
)
def test_tasks_may_be_unequal(cli: Cli, options: tuple[object, ...], sizes: list[int]) -> None:
    answer = cli("space", "--classes", 100, *options, "--json").json
    assert answer["sizes"] == sizes
    assert answer["size"] == str(math.factorial(100) // math.prod(map(math.factorial, sizes)))


@pytest.mark.parametrize("tasks", [("--tasks", 21841), ("--base", 41, "--increment", 100)])
def test_imagenet21k_works(cli: Cli, tasks: tuple[object, ...]) -> None:
    answer = cli("space", "--classes", 21841, *tasks, "--json").json
    assert len(answer["size"]) == math.floor(answer["log10_size"]) + 1
    assert answer["bounds"]["theorem1"] > answer["bounds"]["hoeffding_serfling"]


@pytest.mark.parametrize(("classes", "tasks"), [(1, 1), (2, 1), (2, 2), (3, 3), (4, 2)])
def test_tiny_spaces_work(cli: Cli, classes: int, tasks: int) -> None:
    assert cli("space", "--classes", classes, "--tasks", tasks).code == 0
    answer = cli("space", "--classes", classes, "--tasks", tasks, "--json").json
    assert all(least is None or least >= 1 for least in answer["bounds"].values())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--tasks", 0), "Got 0"),
        (("--tasks", 101), "Got 101"),
        (("--tasks", 7), "do not divide into 7"),
        (("--tasks", "x"), "invalid int value: 'x'"),
        (("--sizes", "50,49"), "sum to 99"),
        (("--sizes", "50,,50"), "--sizes takes whole numbers"),
        (("--sizes", ""), "--sizes takes whole numbers"),
        (("--sizes", "0,100"), "at least 1"),
        (("--base", 50), "Say how the classes form tasks"),
        (("--base", 50, "--increment", 15), "do not divide into increments of 15"),
        ((), "Say how the classes form tasks"),
        (("--tasks", 10, "--epsilon", 0), "'epsilon' parameter must be"),
        (("--tasks", 10, "--epsilon", "nan"), "'epsilon' parameter must be"),
        (("--tasks", 10, "--delta", 1), "'delta' parameter must be"),
        (("--tasks", 10, "--range", 0), "--range must be in (0, 1]"),
        (("--tasks", 10, "--range", 10), "0.1 for ten accuracy points"),
        (("--tasks", 10, "--range", "nan"), "--range must be in (0, 1]"),
        (("--tasks", 10, "--runs", 0), "'runs' parameter must be"),
        (("--tasks", 10, "--mean-similarity", 2), "'mean_similarity' parameter must be"),
        (("--base", 50, "--increment", 10, "--mean-similarity", 0.5), "needs tasks of one size"),
    ],
)
def test_nonsense_is_told(cli: Cli, options: tuple[object, ...], words: str) -> None:
    answer = cli("space", "--classes", 100, *options, "--json")
    assert answer.code == 2
    assert words in answer.sentence


@pytest.mark.parametrize("classes", [-1, 0, 1_000_000])
def test_too_few_or_too_many_classes_are_told(cli: Cli, classes: int) -> None:
    answer = cli("space", "--classes", classes, "--tasks", 1)
    assert answer.code == 2
    assert "--classes must be in [1, 100000]" in answer.sentence
