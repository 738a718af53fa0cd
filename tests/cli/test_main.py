from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import edgecil
import edgecil.cli.main as main_module
from edgecil.cli.main import (
    _BUILT_IN,
    SECTIONS,
    all_verbs,
    find_verb,
    main,
    split_command,
    verb_parser,
)
from edgecil.cli.verb import Verb, flag_of
from edgecil.errors import EdgecilWarning, UsageError, naming


def shell(
    *arguments: str, module: str = "edgecil", pipe: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process, through a shell if it is piped."""
    words = [sys.executable, "-m", module, *arguments]
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


def test_help_shows_five_verbs_first_and_about_twenty(cli) -> None:
    answer = cli("--help")
    assert answer.code == 0
    words = [line.split()[0] for line in answer.out.splitlines() if line.startswith("  ")]
    assert words[:5] == ["run", "analyze", "compare", "next", "report"]
    assert words == [verb.name for section in SECTIONS.values() for verb in section]
    assert len(words) <= 21
    assert "'python -m edgecil.lab' has " in answer.out


def test_help_of_a_module_names_its_verbs(cli) -> None:
    answer = cli("paper", "--help")
    assert answer.code == 0
    words = [line.split()[0] for line in answer.out.splitlines() if line.startswith("  ")]
    assert words == [name.split()[1] for name in all_verbs() if name.startswith("paper ")]
    assert cli("paper").code == 2


def test_a_module_is_no_verb() -> None:
    refused = shell("lab", "orders", "--json")
    assert refused.returncode == 2
    assert "Run: python -m edgecil.lab orders --json." in refused.stderr
    done = shell("space", "--classes", "6", "--tasks", "3", module="edgecil.paper")
    assert (done.returncode, done.stderr) == (0, "")
    assert "= 90" in done.stdout


@pytest.mark.parametrize("verb", sorted(all_verbs()))
def test_every_verb_has_help_json_debug_and_two_examples_that_parse(cli, verb) -> None:
    answer = cli(*verb.split(), "--help")
    assert answer.code == 0
    assert "--json" in answer.out
    assert len(all_verbs()[verb].examples) == 2
    for example in all_verbs()[verb].examples:
        assert example in answer.out
        words = shlex.split(
            re.sub(r"[>|].*", "", example.replace('eval "$(', "").replace(')"', ""))
        )
        module, rest = split_command(words)
        assert find_verb(rest, module)[0] == verb
        verb_parser(verb).check_options(rest[1:])
        verb_parser(verb).parse_args(rest[1:])


@pytest.mark.parametrize("verb", sorted(all_verbs()))
def test_help_shows_at_most_twenty_options_and_help_all_shows_every_one(cli, verb) -> None:
    def options(flag: str) -> list[str]:
        lines = cli(*verb.split(), flag).out.splitlines()
        return [line.split()[0] for line in lines if re.match(r"  (-|[A-Z]+\b)", line)]

    shown, every = options("--help"), options("--help-all")
    assert len(shown) <= 20
    parser = verb_parser(verb)
    names = [action.option_strings[:1] or [action.metavar] for action in parser._actions]
    visible = [action.help != "==SUPPRESS==" for action in parser._actions]
    expected = {name for (name,), is_shown in zip(names, visible, strict=True) if is_shown}
    assert {word.rstrip(",") for word in every} == expected
    assert set(shown) <= set(every)
    assert {"-h,", "--json"} <= set(shown)
    unknown = {*all_verbs()[verb].front} - {
        action.dest.rpartition(".")[2] for action in parser._actions
    }
    assert not unknown, "an option that --help is to show does not exist"


@dataclass(frozen=True)
class Entry:
    """An entry point of another distribution."""

    name: str
    verb: Verb

    def load(self) -> Verb:
        return self.verb


def test_an_entry_point_adds_a_verb(cli, monkeypatch) -> None:
    verb = Verb("greet", "greet", ("edgecil greet", "edgecil greet --json"), "", lambda it: [it])
    greet = Entry("greet", replace(verb, call=lambda: "Hello."))
    monkeypatch.setattr(main_module, "installed", lambda group: {"greet": greet})
    assert cli("greet").out == "Hello.\n"
    assert "  greet" in cli("--help").out


def test_the_version_is_the_installed_one(cli) -> None:
    assert cli("--version").out == f"edgecil {edgecil.__version__}\n"


@pytest.mark.parametrize(
    ("words", "see"),
    [
        ((), "edgecil --help"),
        (("--json",), "edgecil --help"),
        (("sequences", "--bogus"), "edgecil sequences --help"),
        (("sequences", "cifar100", "extra"), "edgecil sequences --help"),
        (("paper", "rank"), "python -m edgecil.paper rank --help"),
        (("paper", "space", "--classes", "ten"), "python -m edgecil.paper space --help"),
        (("paper", "spaces"), "python -m edgecil.paper space --help"),
        (("xyzzy",), "edgecil --help"),
    ],
)
def test_a_wrong_command_exits_with_2_and_points_to_the_verbs_help(cli, words, see) -> None:
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
    ],
)
def test_unknown_verbs_and_options_get_a_suggestion(cli, words, near) -> None:
    sentence = cli(*words).sentence
    assert f"Did you mean {near}? See 'edgecil " in sentence
    verb = words[0] if words[0] in _BUILT_IN else near.strip("'")
    assert sentence.endswith(f"See 'edgecil {verb} --help'.\n")


def test_debug_shows_where_an_error_comes_from(cli) -> None:
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
def test_any_other_error_is_one_line(cli, monkeypatch, error, sentence, code) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setitem(_BUILT_IN, "list", replace(_BUILT_IN["list"], call=fail))
    answer = cli("list", "datasets")
    assert (answer.code, answer.out, answer.err) == (code, "", f"edgecil: {sentence}\n")


def test_a_real_process_fails_with_a_sentence_and_a_code() -> None:
    done = shell("sequences", "cifar101", "--tasks", "10")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("edgecil: ")
    assert {"'cifar101'", "'cifar100'"} <= set(re.findall("'.*?'", done.stderr))
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_a_reader_that_goes_away_is_no_error(json_) -> None:
    words = ("space", "--classes", "21841", "--tasks", "21841", *json_)
    done = shell(*words, module="edgecil.paper", pipe=" | head -c 1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in "{|"


@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_a_closed_stdout_is_no_error(json_) -> None:
    done = shell("list", "datasets", *json_, pipe=" >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told() -> None:
    done = shell("list", "datasets", "--json", pipe=" > /dev/full")
    assert (done.returncode, done.stderr) == (1, "edgecil: No space left on device.\n")


def test_a_terminal_without_unicode_is_served() -> None:
    words = ("space", "--classes", "4", "--tasks", "2")
    done = shell(*words, module="edgecil.paper", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "|?| = 6" in done.stdout


def test_json_needs_no_unicode_from_the_terminal() -> None:
    rows, names = np.eye(4), np.array(["μέλισσα", "αρκούδα"])
    np.savez("f.npz", x=rows, y=np.arange(4) // 2, test=np.arange(4) % 2 > 0, names=names)
    command = ("similarity", "f.npz", "--images", "pixels", "--json")
    plain = shell(*command)
    ascii_ = shell(*command, PYTHONIOENCODING="ascii")
    assert "μέλισσα" in plain.stdout
    assert (ascii_.returncode, ascii_.stderr) == (0, "")
    assert ascii_.stdout.isascii()
    assert json.loads(ascii_.stdout) == json.loads(plain.stdout)


def test_the_light_verbs_import_neither_torch_nor_scipy_nor_matplotlib() -> None:
    program = (
        "import sys; from edgecil.cli.main import main; "
        "main(['list', 'datasets', '--json']); "
        "main(['space', '--classes', '100', '--tasks', '10'], 'paper'); "
        "heavy = {'torch', 'matplotlib', 'scipy'} & set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_errors_name_options_by_their_flags_and_leave_other_quoted_words() -> None:
    parser = verb_parser("next")
    error = UsageError("'out' exists; use `overwrite` or `order_seed`, or another `source`.")
    with naming(partial(flag_of, parser)):
        named = str(error)
    assert named == "'out' exists; use --overwrite or --order-seed, or another SOURCE."
    assert "'overwrite' or 'order_seed'" in str(error)


def test_a_warning_is_one_sentence() -> None:
    with naming("--{}".format):
        ours = warnings.formatwarning(EdgecilWarning("Set `tasks`."), EdgecilWarning, "a.py", 3)
        other = warnings.formatwarning(UserWarning("Else."), UserWarning, "a.py", 3)
    assert ours == "edgecil: Set --tasks.\n"
    assert "a.py:3: UserWarning: Else." in other


@pytest.mark.parametrize(
    "sentence",
    [
        "No usable temporary directory found in ['/tmp', '/var/tmp', '/usr/tmp', '/']",
        "Matplotlib requires access to a writable cache directory, but a temporary directory "
        "could not be created",
    ],
)
def test_no_folder_for_temporary_files_says_what_to_set(sentence: str) -> None:
    message, code = main_module._explain(OSError(sentence))
    assert code == 1
    assert "TMPDIR" in message
