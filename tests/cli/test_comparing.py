"""`edgecil compare` and `edgecil next`."""

from __future__ import annotations

import csv
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from edgecil.analysis.next_runs import DatasetNextRuns, NextStep
from edgecil.cli.result_verbs import explain_next
from edgecil.sequences.sequence import ClassSequence
from tests.analysis.tables import noisy, runs_of, write
from tests.toys import save_toy
from tests.training import strange as strange  # registers its learners


def write_two(folder: Path) -> tuple[Path, Path]:
    paths = folder / "a.csv", folder / "b.csv"
    for name, path, mean in zip("ab", paths, (50.0, 70.0), strict=True):
        write(runs_of(name, "latin", noisy(0 if name == "a" else 1, mean=mean)), path)
    return paths


def test_orders_without_a_result_are_named_in_a_comparison(cli, tmp_path) -> None:
    one, two = write_two(tmp_path)
    *rows, last = one.read_text(encoding="utf-8").splitlines()
    at = rows[0].split(",").index("accuracy")
    cells = [cell if place != at else "" for place, cell in enumerate(next(csv.reader([last])))]
    with one.open("w", encoding="utf-8", newline="") as file:
        file.write("\n".join([*rows, ""]))
        csv.writer(file).writerow(cells)
    answer = cli("compare", one, two, "--json").json
    assert answer["pairs"][0]["n"] == 2
    *_, sentence = answer["notes"]
    assert sentence.startswith("a, latin: ")
    assert sentence in cli("compare", one, two).out.splitlines()


def test_next_says_what_to_run_and_writes_the_orders(cli, tmp_path) -> None:
    one, _ = write_two(tmp_path)
    lines = one.read_text(encoding="utf-8").splitlines()
    one.write_text("\n".join(lines[:2]) + "\n", encoding="utf-8")
    file = tmp_path / "next.json"
    answer = cli("next", one, "--out", file, "--json").json
    assert answer["datasets"][0]["steps"]["a"]["order_count"] == 2
    assert len(json.loads(file.read_text(encoding="utf-8"))["next"]) == 2
    assert "run 2 more orders" in cli("next", one).out
    last = cli("next", one, "--out", file).out.splitlines()[-1]
    assert "edgecil run" not in last


@pytest.mark.parametrize("target", ["0", "nan"])
def test_the_target_is_positive(cli, tmp_path, target) -> None:
    one, _ = write_two(tmp_path)
    answer = cli("next", one, f"--target={target}")
    assert answer.code == 2
    assert "--target" in answer.err


def write_runs(path: Path, protocol: str = "", **methods: list[float]) -> Path:
    """Write accuracies on the orders `0 1|2 3|4 5`, `4 5|0 1|2 3` and `2 3|4 5|0 1`."""
    orders = ("0 1|2 3|4 5", "4 5|0 1|2 3", "2 3|4 5|0 1")
    last = f",{protocol}" if protocol else ""
    rows = [
        f"{name},{order},{value}{last}"
        for name, values in methods.items()
        for order, value in zip(orders, values, strict=False)
    ]
    header = f"method,sequence,accuracy{',protocol' if protocol else ''}"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_a_tie_is_no_win(cli, tmp_path) -> None:
    file = write_runs(tmp_path / "tie.csv", "random", X=[60, 58, 62], Y=[60, 59, 61.5])
    [counts] = re.findall("better on .*orders", cli("compare", file).out)
    assert re.findall(r"\d+", counts) == ["1", "1", "1", "3"]
    (pair,) = cli("compare", file, "--json").json["pairs"]
    assert (pair["ties"], pair["wins"], pair["n"]) == (1, 1, 3)
    ends = pair["low"], pair["high"]
    assert ends[0] < 0.0 < pair["difference"] < ends[1]
    assert pair["better"] is None
    same = write_runs(tmp_path / "same.csv", "random", X=[60, 58, 62], Y=[60, 58, 62])
    assert "equal on all 3 orders" in cli("compare", same).out


def test_an_unknown_choice_of_orders_is_said_as_by_analyze(cli, tmp_path) -> None:
    file = write_runs(tmp_path / "own.csv", A=[61.2, 58.9, 64.0], B=[60.1, 57.0, 63.5])
    [said] = [line for line in cli("compare", file).out.splitlines() if "'given'" in line]
    assert said in cli("analyze", file).err.replace("\n", " ")


def printed_command(out: str, start: str) -> list[str]:
    """Return the words of the command on the line with this start, without the program."""
    (line,) = [line for line in out.splitlines() if line.startswith(start)]
    program, *words = shlex.split(line.removeprefix(start))
    assert program == "edgecil"
    return words


def test_the_commands_of_next_run_as_printed(cli) -> None:
    save_toy(Path("toy.npz"))
    options = ("--tasks", 2, "--protocol", "random", "--budget", 3, "--repeats", 2, "--workers", 1)
    cli("run", "toy.npz", "--method", "instant", *options, "--out", "a run")
    advice = cli("next", "a run", "--target", 0.1)
    write = printed_command(advice.out, "To write them to a file: ")
    again = cli(*write)
    assert again.code == 0
    assert "To write them" not in again.out
    run = printed_command(again.out, "To run them: ")
    assert run == printed_command(advice.out, "To run them: ")
    answer = cli(*run, "--workers", 1, "--json").json
    assert {part["protocol"]: part["planned"] for part in answer["results"]} == {
        "random": 3,
        "next": len(json.loads(Path("next.json").read_text())["next"]),
    }
    assert answer["reused"] > 0


def test_the_command_that_repeats_orders_runs_as_printed(cli) -> None:
    save_toy(Path("toy.npz"))
    options = ("--tasks", 2, "--protocol", "random", "--budget", 3, "--workers", 1)
    cli("run", "toy.npz", "--method", "instant", *options, "--out", "a run")
    words = printed_command(cli("next", "a run").out, "To train them once more: ")
    assert words[-2:] == ["--repeats-on", "2"]
    answer = cli(*words, "--workers", 1, "--json").json
    assert answer["trained"] > 0


def test_what_edgecil_did_not_train_has_no_command(cli) -> None:
    order = ClassSequence([[0, 1], [2, 3]])
    step = {"instant": NextStep("orders", 1)}
    for tool in ("toolbox", "external", "export", "import-logs"):
        advice = DatasetNextRuns("toy", step, (order,), (order,), directories=("x",), tool=tool)
        lines = list(explain_next([advice], "n.json"))
        assert "--sequences n.json" in " ".join(lines)
        assert not any(": edgecil " in line for line in lines)


def test_one_method_alone_is_refused(cli, tmp_path) -> None:
    one, _ = write_two(tmp_path)
    answer = cli("compare", one)
    assert answer.code == 2
    assert "two methods" in answer.err


def test_next_requires_an_accuracy(cli, tmp_path) -> None:
    runs = [replace(run, accuracy=None) for run in runs_of("a", "latin", noisy(0, mean=50.0))]
    write(runs, tmp_path / "a.csv")
    assert "accuracy" in cli("next", tmp_path / "a.csv").sentence
