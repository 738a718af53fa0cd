"""Commands in workflows, in the documentation and in examples exist, with the options they have."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from edgecil.cli.main import find_verb, main, split_command, verb_parser
from edgecil.io.files import read_toml

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "RELEASING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").iterdir()),
    ROOT / "Dockerfile",
]
PROJECT = read_toml(ROOT / "pyproject.toml")["project"]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
PROGRAMS = "(?:edgecil|make|python|pip|docker)"
SPAN = re.compile(rf"`({PROGRAMS} [^`\n]+)`")
FENCE = re.compile(r"^```\w*.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A command that begins a line of a block of code, of a script or of a comment, to its end.
LINE = re.compile(rf"^(?:\$ |#)?[ ]*({PROGRAMS} (?:[^\\\n]|\\\n|\\.)*)", re.MULTILINE)


def commands_of(text: str, *, is_markdown: bool) -> list[str]:
    """Return the commands of a page, in blocks and spans of code, or of a script."""
    if not is_markdown:
        return LINE.findall(text)
    blocks = FENCE.findall(text)
    return [*SPAN.findall(FENCE.sub("", text)), *LINE.findall("\n".join(blocks))]


def check_edgecil(words: list[str], module: str = "") -> None:
    """Check that a verb exists and has the options; the page may leave others out."""
    if not words or words[0].startswith("-") or words[0].isupper():
        return
    chosen = find_verb(words, module)
    assert chosen is not None, "no such verb"
    parser = verb_parser(chosen[0])
    options = {option for action in parser._actions for option in action.option_strings}
    for word in words:
        if word.startswith("--"):
            assert word.partition("=")[0] in options, f"{chosen[0]} has no option {word}"


def check_make(words: list[str]) -> None:
    """Check that the targets exist."""
    for word in words:
        assert "=" in word or word in TARGETS, f"no target {word}"


def check_python(words: list[str]) -> None:
    """Check that a module can be imported, or that a script is here and knows the options."""
    parts = split_command(["python", *words])
    if parts is not None and parts[0]:
        check_edgecil(parts[1], parts[0])
        return
    if words[0] == "-m":
        assert find_spec(words[1]) or words[1] == "build", words[1]
        if words[1] == "pip":
            check_pip(words[2:])
        return
    script = ROOT / words[0]
    if script.parent.name in ("tools", "benchmarks", "examples"):
        text = script.read_text(encoding="utf-8")
        for word in words[1:]:
            assert not word.startswith("--") or word in text, f"{words[0]} has no option {word}"


def check_pip(words: list[str]) -> None:
    """Check that a file of constraints and the extras exist."""
    for before, word in zip(words, [*words[1:], ""], strict=True):
        if before in ("-c", "--constraint"):
            assert (ROOT / word).is_file() or word.startswith("/source/"), word
        extras = re.search(r"^(?:\.|edgecil|/source|.*\.whl)\[([\w,]+)\]$", before)
        for extra in extras.group(1).split(",") if extras else ():
            assert extra in PROJECT["optional-dependencies"], extra


def check_docker(words: list[str]) -> None:
    """Check the arguments that the image gets."""
    if words[0] == "run":
        check_edgecil(words[words.index("edgecil") + 1 :])


CHECKS: dict[str, Callable[[list[str]], None]] = {
    "edgecil": check_edgecil,
    "make": check_make,
    "python": check_python,
    "pip": check_pip,
    "docker": check_docker,
}


def check(command: str) -> bool:
    """Check a command of a known program, up to a shell's operator; return whether it is known."""
    in_one_line = command.replace("\\\n#", " ").replace("\\\n", " ")
    words = shlex.split(in_one_line, comments=True)
    end = [place for place, word in enumerate(words) if word in ("|", "&&", "||", ">", ";")]
    words = words[: end[0]] if end else words
    if words[0] not in CHECKS or len(words) < 2:
        return False
    CHECKS[words[0]]([word for word in words[1:] if word != "…"])
    return True


def workflow_steps(path: Path) -> Iterator[dict[str, object]]:
    """Yield the steps of every job of a workflow."""
    for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_of_workflows_exist(path: Path) -> None:
    commands = [str(step["run"]) for step in workflow_steps(path) if "run" in step]
    assert len(commands) >= 2
    for command in commands:
        assert check(command) or command.startswith("mkdir "), command


def test_commands_of_the_light_job_run(capsys) -> None:
    """Those of the others are the suite, the site, the wheel and the container."""
    light = yaml.safe_load(WORKFLOWS[-1].read_text(encoding="utf-8"))["jobs"]["light"]
    commands = [shlex.split(step["run"]) for step in light["steps"] if "run" in step]
    parts = [split_command(words) for words in commands]
    runs = [part for part in parts if part is not None]
    assert len(runs) == 2
    for module, words in runs:
        assert main(words, module) == 0, capsys.readouterr().err


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_one_action_has_one_commit() -> None:
    texts = [path.read_text(encoding="utf-8") for path in WORKFLOWS]
    pins = {line for text in texts for line in re.findall(r"uses: (.*)", text)}
    assert len({pin.partition("@")[0] for pin in pins}) == len(pins)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_in_the_documentation_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for command in commands_of(text, is_markdown=path.suffix == ".md"):
        try:
            check(command)
        except AssertionError as error:
            raise AssertionError(f"{command}: {error}") from error


def test_commands_are_found_wherever_they_stand() -> None:
    page = "make no noise, run `edgecil run --x`.\n\n```sh\nmake all\npython a.py \\\n  --b\n```\n"
    expected = ["edgecil run --x", "make all", "python a.py \\\n  --b"]
    assert commands_of(page, is_markdown=True) == expected
    script = "# Run this:\n#   docker run y\nx=1\n"
    assert commands_of(script, is_markdown=False) == ["docker run y"]


@pytest.mark.parametrize(
    "command",
    [
        "edgecil space --classes 6",
        "edgecil run quickdraw --methods er",
        "make everything",
        "python tools/guide.py --mesure",
        "python -m no_such_module",
        "pip install 'edgecil[cuda]'",
        "docker run --rm edgecil space",
    ],
)
def test_a_command_that_does_not_exist_is_found(command: str) -> None:
    with pytest.raises(AssertionError):
        check(command)


def test_the_makefile_runs_what_is_there() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    scripts = re.findall(r"python ((?:tools|benchmarks)/\w+\.py)", text)
    assert len(scripts) >= 4
    for script in scripts:
        ast.parse((ROOT / script).read_text(encoding="utf-8"))
    for extras in re.findall(r"'\.\[([\w,]+)\]'", text):
        assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()
