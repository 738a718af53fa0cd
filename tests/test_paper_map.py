"""docs/paper.md maps the paper to commands, names and tests that exist."""

from __future__ import annotations

import json
import re
import shlex
from fnmatch import filter as matching
from pathlib import Path

import pytest
from PIL import Image
from tools import twins

from edgecil.cli.main import find_verb, split_command, verb_parser
from edgecil.recipes import recipe_names
from edgecil.sequences.protocols import PROTOCOLS
from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
HEAD = ["in their forks of PyCIL and PILOT", "here", "what comes out"]
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")]
SPANS = re.findall(r"`([^`]+)`", TEXT)
NUMBERED = TEXT[TEXT.index("## Tables and figures") : TEXT.index("## Experimental setting")]
FIGURES = [row for row in ROWS if f"| {' | '.join(row)} |" in NUMBERED]
TYPED = [row for row in ROWS if ROWS.index(row) >= ROWS.index(HEAD)]
ICARL = {
    "prefix": "reproduce", "dataset": "cifar100", "memory_size": 2000, "shuffle": True,
    "init_cls": 10, "increment": 10, "model_name": "icarl", "convnet_type": "resnet32",
    "device": ["-1"], "seed": [1993],
}  # fmt: skip


def test_every_row_names_its_tests() -> None:
    rows = [row for row in ROWS if row[0] != "in the paper" and row not in TYPED]
    assert len(rows) > 30
    for row in rows:
        assert len(row) == (5 if row in FIGURES else 3), row
        tests = re.findall(r"`((?:tests|benchmarks)/[^` ]+)", row[-1])
        assert tests, row
        for test in tests:
            path, _, name = test.partition("::")
            assert (ROOT / path).is_file(), test
            assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), test


def test_every_numbered_table_and_figure_has_a_row() -> None:
    """The paper has figures 1 to 5 and A1 to A7, tables 1, 2 and A1 to A10."""
    listed = {"Table": set(), "Figure": set()}
    for row in FIGURES:
        for kind, numbers in re.findall(r"(Table|Figure)s? ((?:A?\d+)(?: and A?\d+)*)", row[0]):
            listed[kind] |= set(re.findall(r"A?\d+", numbers))
    assert listed["Figure"] == {*"12345", *(f"A{number}" for number in range(1, 8))}
    assert listed["Table"] == {"1", "2", *(f"A{number}" for number in range(1, 11))}


@pytest.mark.parametrize("command", [span for span in SPANS if split_command(span.split())])
def test_every_command_can_be_parsed(command: str) -> None:
    module, words = split_command(shlex.split(command))
    name, _ = find_verb(words, module)
    parser = verb_parser(name)
    words = words[1:]
    parser.check_options(words)
    assert parser.parse_known_args(words)[1] == []


@pytest.mark.parametrize("options", [span for span in SPANS if span.startswith("--")])
def test_every_option_belongs_to_run_or_analyze(options: str) -> None:
    words = shlex.split(options)
    wanted = {word for word in words if word.startswith("--")}
    available = {
        name
        for verb in ("run", "analyze", "sequences")
        for action in verb_parser(verb)._actions
        for name in action.option_strings
    }
    assert wanted <= available
    if words[0] == "--protocol":
        assert words[1] in PROTOCOLS


def test_every_recipe_is_there() -> None:
    names = recipe_names()
    is_recipe = re.compile(r"[a-z0-9-]+-(\*|cub200|cifar100|quickdraw)")
    patterns = {span for span in SPANS if is_recipe.fullmatch(span)}
    patterns |= set(re.findall(r"recipe:([a-z0-9-]+)", TEXT))
    assert len(patterns) > 12
    for pattern in patterns:
        assert matching(names, pattern), pattern


@pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
@pytest.mark.parametrize(
    ("row", "orders"),
    [
        (1, {"rs": 3}),
        (2, {"edge-released": 3}),
        (3, {"rs": 3, "edge-released": 3}),
        (4, {"rs": 3, "edge": 3}),
    ],
)
def test_what_one_types_plans_the_orders(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    row: int,
    orders: dict[str, int],
) -> None:
    """The commands of the table without training: `check` resolves and plans the same options."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exps").mkdir()
    (tmp_path / "exps" / "icarl.json").write_text(json.dumps(ICARL))
    for name in "abcdefghij":
        (tmp_path / "DATA" / "photos" / name).mkdir(parents=True)
        for number in range(4):
            Image.new("RGB", (8, 8)).save(tmp_path / "DATA" / "photos" / name / f"{number}.png")
    command = re.findall(r"`(edgecil run [^`]+)`", TYPED[row][1])[0]
    answer = json.loads(cli("check", *shlex.split(command)[2:], "--json").out)
    assert answer["orders"] == orders
    found = {it["name"]: it["available"] for it in answer["requirements"]}
    assert ("encoder clip-vit-b-16" in found) == (set(orders) != {"rs"})


def test_another_toolbox_gets_files(
    cli: Cli,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "mammoth"
    (root / "datasets" / "utils").mkdir(parents=True)
    (root / "main.py").touch()
    (root / "datasets" / "utils" / "continual_dataset.py").touch()
    command = re.findall(r"`(edgecil export [^`]+)`", TYPED[5][1])[0]
    words = shlex.split(command.replace("~", str(tmp_path)))[1:]
    assert len(cli(*words, "--json").json["runs"]) == 3


def test_twins_that_train_are_run_by_make_evidence() -> None:
    """Each command of a twin can be parsed, and no recipe of a twin is left out."""
    commands = twins.twin_commands(TEXT)
    assert "tools/twins.py" in (ROOT / "Makefile").read_text(encoding="utf-8")
    for _, words in commands:
        module, rest = split_command(words)
        parser = verb_parser(find_verb(rest, module)[0])
        parser.check_options(rest[1:])
        assert parser.parse_known_args(rest[1:])[1] == []
    run = {recipe for recipe, _ in commands}
    compared = {word for _, words in commands for word in words if word.startswith("recipe:")}
    every = {name for name in recipe_names() if name.endswith("-quickdraw")} - {"demo-quickdraw"}
    assert run | {word.removeprefix("recipe:") for word in compared} >= every


QUICK = [
    span
    for span in SPANS
    if re.match(
        r"edgecil sequences quickdraw|.*edgecil\.paper (rank paper|space --classes 6)", span
    )
]


@pytest.mark.parametrize("command", QUICK)
def test_commands_that_need_no_data_run(command: str, cli: Cli) -> None:  # noqa: F811
    assert len(QUICK) >= 6
    module, words = split_command(shlex.split(command))
    assert cli(*[module] * bool(module), *words).out.strip()
