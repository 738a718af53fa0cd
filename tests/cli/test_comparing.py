"""`edgecil compare` and `edgecil next`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgecil.estimation import write_accuracies
from tests.cli.conftest import Cli
from tests.estimation.tables import noisy, runs_of


def write_two(folder: Path) -> tuple[Path, Path]:
    paths = folder / "a.csv", folder / "b.csv"
    for name, path, mean in zip("ab", paths, (50.0, 70.0), strict=True):
        write_accuracies(runs_of(name, "latin", noisy(0 if name == "a" else 1, mean=mean)), path)
    return paths


def test_methods_of_two_files_are_compared(cli: Cli, tmp_path: Path) -> None:
    answer = cli("compare", *write_two(tmp_path), "--json").json
    (pair,) = answer["pairs"]
    assert (pair["first"], pair["second"], pair["comparison"]["n"]) == ("a", "b", 3)
    assert pair["comparison"]["won"] == 0.0
    text = cli("compare", *write_two(tmp_path)).out
    assert "a - b" in text


def test_next_says_what_to_run_and_writes_the_orders(cli: Cli, tmp_path: Path) -> None:
    one, _ = write_two(tmp_path)
    lines = one.read_text().splitlines()
    one.write_text("\n".join(lines[:2]) + "\n")
    file = tmp_path / "next.json"
    answer = cli("next", one, "--out", file, "--json").json
    assert answer["datasets"][0]["steps"]["a"]["order_count"] == 2
    assert len(json.loads(file.read_text())["next"]) == 2
    assert "run 2 more orders" in cli("next", one).out
    last = cli("next", one, "--out", file).out.splitlines()[-1]
    assert last.endswith(f"--sequences {file}")


def test_without_further_orders_no_file_is_written(cli: Cli, tmp_path: Path) -> None:
    one, _ = write_two(tmp_path)
    file = tmp_path / "next.json"
    answer = cli("next", one, "--out", file)
    assert "--repeats-on 2" in answer.out.splitlines()[-1]
    assert "next.json" in answer.err
    assert not file.exists()
    assert cli("next", one, "--out", file, "--json").json["out"] is None


@pytest.mark.parametrize("target", ["0", "-1", "nan", "inf"])
def test_the_target_is_positive(cli: Cli, tmp_path: Path, target: str) -> None:
    one, _ = write_two(tmp_path)
    answer = cli("next", one, f"--target={target}")
    assert answer.code == 2
    assert "--target" in answer.err


def test_the_seed_of_the_next_orders_is_the_order_seed(cli: Cli, tmp_path: Path) -> None:
    one, _ = write_two(tmp_path)
    one.write_text("\n".join(one.read_text().splitlines()[:2]) + "\n")
    first, again, other = (
        cli("next", one, "--order-seed", seed, "--json").json["datasets"] for seed in (1, 1, 2)
    )
    assert first[0]["orders"]
    assert first == again
    assert first != other


def test_one_method_alone_is_refused(cli: Cli, tmp_path: Path) -> None:
    one, _ = write_two(tmp_path)
    answer = cli("compare", one)
    assert answer.code == 2
    assert "two methods" in answer.err
