from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import edgecil
from edgecil.cli.main import GROUPS, VERBS, build_parser, main, verb_parser
from edgecil.cli.training import show_trained
from edgecil.engine.protocol_results import ExperimentResults, ProtocolResults
from edgecil.errors import EdgecilWarning, UsageError, show_warnings
from edgecil.report.answer_tables import show_results
from tests.cli.conftest import Cli

EDGECIL = [sys.executable, "-m", "edgecil"]


def shell(*arguments: str, pipe: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process, through a shell if it is piped."""
    words = [*EDGECIL, *arguments]
    if pipe and sys.platform == "win32":
        pytest.skip("needs a POSIX shell")
    return subprocess.run(
        ["bash", "-c", " ".join(f"'{word}'" for word in words) + pipe] if pipe else words,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        env={**os.environ, **environment},
    )


def test_help_names_every_verb_in_its_group(cli: Cli) -> None:
    answer = cli("--help")
    assert answer.code == 0
    lines = [line.split() for line in answer.out.splitlines() if line]
    words = [line[0] for line in lines]
    for title, verbs in GROUPS.items():
        place = words.index(f"{title}:".split()[0])
        assert words[place + 1 : place + 1 + len(verbs)] == [verb.name for verb in verbs]


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help_json_debug_and_two_examples_that_parse(cli: Cli, verb: str) -> None:
    answer = cli(verb, "--help")
    assert answer.code == 0
    assert ("--json" in answer.out) == (verb != "completion")
    assert "--debug" in answer.out
    assert len(VERBS[verb].examples) == 2
    for example in VERBS[verb].examples:
        assert example in answer.out
        words = shlex.split(
            re.sub(r"[>|].*", "", example.replace('eval "$(', "").replace(')"', ""))
        )
        assert words[0] == "edgecil"
        verb_parser(words[1]).check_options(words[2:])
        assert build_parser([words[1]]).parse_args(words[1:]).verb == words[1]


def test_the_version_is_the_installed_one(cli: Cli) -> None:
    assert cli("--version").out == f"edgecil {edgecil.__version__}\n"


@pytest.mark.parametrize(
    ("words", "see"),
    [
        ((), "edgecil --help"),
        (("--json",), "edgecil --help"),
        (("sequences", "--bogus"), "edgecil sequences --help"),
        (("sequences", "cifar100", "extra"), "edgecil sequences --help"),
        (("rank",), "edgecil rank --help"),
        (("space", "--classes", "ten"), "edgecil space --help"),
        (("spaces",), "edgecil space --help"),
        (("xyzzy",), "edgecil --help"),
    ],
)
def test_a_wrong_command_exits_with_2_and_points_to_the_verbs_help(
    cli: Cli, words: tuple[str, ...], see: str
) -> None:
    answer = cli(*words)
    assert answer.code == 2
    assert answer.sentence.endswith(f"See '{see}'.\n")


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("sequence", "cifar100"), "'sequences'"),
        (("anaylze", "out"), "'analyze'"),
        (("run", "--metod", "icarl"), "--method"),
        (("run", "--out", "x", "--clases=3"), "--classes"),
        # Names of earlier versions.
        (("estimate", "demo"), "'analyze'"),
        (("agree", "a.npz", "b.npz"), "'compare-similarities'"),
        (("generators",), "'protocols'"),
        (("logs", "a.log"), "'import-logs'"),
        (("judge", "demo"), "'analyze'"),
        (("sequences", "--runs", "3"), "--budget"),
        (("run", "--seed", "1"), "--order-seed"),
        (("run", "--seeds=3"), "--repeats"),
        (("external", "--fresh"), "--overwrite"),
        (("run", "--half"), "--precision"),
        (("run", "--no-sharing"), "--no-share"),
        (("space", "--range", "0.1"), "--accuracy-range"),
        (("analyze", "demo", "--csv", "x.csv"), "'edgecil export-runs'"),
    ],
)
def test_unknown_verbs_and_options_get_a_suggestion(
    cli: Cli, words: tuple[str, ...], near: str
) -> None:
    sentence = cli(*words).sentence
    assert f"Did you mean {near}? See 'edgecil " in sentence
    verb = words[0] if words[0] in VERBS else near.strip("'")
    assert sentence.endswith(f"See 'edgecil {verb} --help'.\n")


def test_debug_shows_where_an_error_comes_from(cli: Cli) -> None:
    with pytest.raises(UsageError, match="Unknown dataset"):
        main(["sequences", "nowhere", "--tasks", "2", "--debug"])


MORE_MEMORY = "Stored results are kept; free memory or use fewer workers."


@pytest.mark.parametrize(
    ("error", "sentence", "code"),
    [
        (KeyboardInterrupt(), "Interrupted.", 130),
        (OSError(28, "No space left on device"), "No space left on device.", 1),
        (OSError(13, "Permission denied", "x"), "Permission denied (x).", 1),
        (MemoryError(), f"Not enough memory. {MORE_MEMORY}", 1),
        (ImportError("x.so: failed to map segment"), f"Not enough memory. {MORE_MEMORY}", 1),
        (RuntimeError("a bug"), "RuntimeError: a bug (--debug shows where).", 1),
    ],
)
def test_any_other_error_is_one_line(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    sentence: str,
    code: int,
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setitem(VERBS, "datasets", replace(VERBS["datasets"], call=fail))
    answer = cli("datasets")
    assert (answer.code, answer.out, answer.err) == (code, "", f"edgecil: {sentence}\n")


def test_a_real_process_prints_one_json_object_and_nothing_else() -> None:
    done = shell("sequences", "ham10000", "--tasks", "7", "--protocol", "random", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    labels = [run["label"] for run in json.loads(done.stdout)["sequences"]]
    assert labels == ["seed-0", "seed-42", "seed-1993"]


def test_a_real_process_fails_with_a_sentence_and_a_code() -> None:
    done = shell("sequences", "cifar101", "--tasks", "10")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("edgecil: ")
    assert {"'cifar101'", "'cifar100'"} <= set(re.findall("'.*?'", done.stderr))
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_a_reader_that_goes_away_is_no_error(json_: tuple[str, ...]) -> None:
    done = shell("space", "--classes", "21841", "--tasks", "21841", *json_, pipe=" | head -c 1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in "{|"


@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_a_closed_stdout_is_no_error(json_: tuple[str, ...]) -> None:
    done = shell("datasets", *json_, pipe=" >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told() -> None:
    done = shell("datasets", "--json", pipe=" > /dev/full")
    assert (done.returncode, done.stderr) == (1, "edgecil: No space left on device.\n")


def test_a_terminal_without_unicode_is_served() -> None:
    done = shell("space", "--classes", "4", "--tasks", "2", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "|?| = 6" in done.stdout


def test_json_needs_no_unicode_from_the_terminal() -> None:
    Path("f.json").write_text('["μέλισσα", "αρκούδα"]', encoding="utf-8")
    np.savez("f.npz", features=np.eye(2), labels=np.arange(2))
    command = ("similarity", "--features", "f.npz", "--names", "f.json", "--json")
    plain = shell(*command)
    ascii_ = shell(*command, PYTHONIOENCODING="ascii")
    assert "μέλισσα" in plain.stdout
    assert (ascii_.returncode, ascii_.stderr) == (0, "")
    assert ascii_.stdout.isascii()
    assert json.loads(ascii_.stdout) == json.loads(plain.stdout)


def test_the_light_verbs_import_neither_torch_nor_numba_nor_matplotlib() -> None:
    program = (
        "import sys; from edgecil.cli.main import main; "
        "main(['datasets', '--json']); main(['space', '--classes', '100', '--tasks', '10']); "
        "heavy = {'torch', 'numba', 'matplotlib', 'scipy'} & set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_about_a_config_file_keeps_the_names_of_the_file(cli: Cli) -> None:
    Path("o.toml").write_text("json = true\n", encoding="utf-8")
    answer = cli("run", "--config", "o.toml", "--out", "y")
    assert answer.code == 2
    assert "o.toml 'json'" in answer.err


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("sequences", "cifar100", "--protocol", "budget", "--tasks", "10"), "'budget'"),
        (("sequences", "names", "--tasks", "3"), "'names'"),
        (("run", "quickdraw", "--method", "memory", "--tasks", "3", "--out", "x"), "'memory'"),
        (("analyze", "a.csv", "--metric", "source"), "'source'"),
        (("analyze", "a.csv", "--predictor", "draws"), "'draws'"),
    ],
)
def test_a_value_that_is_the_name_of_an_option_stays_as_it_is(
    cli: Cli, words: tuple[str, ...], value: str
) -> None:
    Path("a.csv").write_text("method,sequence,accuracy\na,0|1,50\na,1|0,60\n", encoding="utf-8")
    sentence = cli(*words).sentence
    assert value in sentence
    assert f"--{value[1:-1]}" not in sentence


def test_a_parameter_is_an_option_also_if_a_value_has_its_name(cli: Cli) -> None:
    answer = cli("sequences", "cifar100", "--tasks", "10", "--protocol", "budget", "--budget", "0")
    assert "'budget'" in answer.sentence
    parser = verb_parser("run")
    written = parser.translate(
        "The 'memory' parameter of 'memory' must be 1. Did you mean 'memory'? Set 'tasks'.",
        {"method": ("memory",), "set": {"a": {"tasks": 1}}},
    )
    assert written == "--memory of 'memory' must be 1. Did you mean 'memory'? Set 'tasks'."
    assert parser.translate("Got 'tasks'; set 'tasks'.", {}) == "Got 'tasks'; set --tasks."


def test_an_error_about_a_file_keeps_the_names_of_its_arrays(cli: Cli) -> None:
    np.savez("f.npz", features=np.zeros((2, 2)))
    answer = cli("similarity", "--features", "f.npz")
    assert "'features'" in answer.sentence


@pytest.mark.parametrize(("trained", "words"), [(1, "Trained 1 run, "), (2, "Trained 2 runs, ")])
def test_one_run_is_not_in_the_plural(trained: int, words: str) -> None:
    results = ExperimentResults(Path("x"), "runs", trained, 0, [], [])
    *_, line = show_results(results)
    assert str(line).startswith(words)


def test_results_end_with_the_command_for_their_intervals() -> None:
    part = ProtocolResults("m", "random", 1, 1, 50.0, 0.0, 50.0, 50.0, None, ())
    results = ExperimentResults(Path("my runs"), "tasks", 1, 0, [part], [])
    *_, line = show_trained(results)
    assert str(line).endswith(": edgecil analyze 'my runs'")
    unfinished = replace(results, results=[replace(part, finished=0, mean=None)])
    assert list(map(str, show_trained(unfinished))) == list(map(str, show_results(unfinished)))


def test_a_warning_is_one_sentence_with_the_names_of_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    show_warnings(lambda sentence: sentence.replace("'tasks'", "--tasks"))
    ours = warnings.formatwarning(EdgecilWarning("Set 'tasks'."), EdgecilWarning, "a.py", 3)
    assert ours == "edgecil: Set --tasks.\n"
    other = warnings.formatwarning(UserWarning("Else."), UserWarning, "a.py", 3)
    assert "a.py:3: UserWarning: Else." in other
