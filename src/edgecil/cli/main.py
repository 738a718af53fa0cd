"""`edgecil VERB …`: parse the words, run the verb, turn errors into one sentence and a code."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import edgecil
from edgecil.cli import (
    INTERRUPTED,
    preparation_verbs as prepare,
    result_verbs as results,
    training_verbs as training,
    was_interrupted,
)
from edgecil.cli.output import note, print_json, print_parts
from edgecil.cli.verb import Verb, flag_of, load_object
from edgecil.errors import EdgecilError, first_line, naming, nearest
from edgecil.options import DEBUG
from edgecil.registry import installed

SECTIONS: dict[str, tuple[Verb, ...]] = {
    "": (training.RUN, *results.FRONT_VERBS),
    "more": (
        *training.TRAINING_VERBS,
        *results.RESULT_VERBS,
        *prepare.PREPARATION_VERBS,
    ),
}
ENTRY_POINTS = "edgecil.verbs"  # each is a Verb
MODULES = {
    "lab": "edgecil.lab.lab_verbs:LAB_VERBS",
    "paper": "edgecil.paper.paper_verbs:PAPER_VERBS",
}
"""Groups of verbs that are run as modules: `python -m edgecil.lab VERB …`."""
_BUILT_IN = {verb.name: verb for section in SECTIONS.values() for verb in section}


def command_of(name: str) -> str:
    """Return the command of a verb; a verb of a module has its name before its own.

    >>> command_of("analyze"), command_of("lab orders")
    ('edgecil analyze', 'python -m edgecil.lab orders')
    """
    module, _, verb = name.rpartition(" ")
    return f"{program_of(module)} {verb}"


def program_of(module: str) -> str:
    """Return the program that a module's verbs belong to; the command line itself has none."""
    return f"python -m edgecil.{module}" if module else "edgecil"


def split_command(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the module of a command, and the words from its verb on; None for another program.

    >>> split_command(["edgecil", "next", "x"])
    ('', ['next', 'x'])
    >>> split_command(["python", "-m", "edgecil.lab", "orders"])
    ('lab', ['orders'])
    """
    if words[:1] == ["edgecil"]:
        return "", list(words[1:])
    for module in MODULES:
        program = program_of(module).split()
        if list(words[: len(program)]) == program:
            return module, list(words[len(program) :])
    return None


def find_verb(words: Sequence[str], module: str = "") -> tuple[str, Verb] | None:
    """Return the verb that a command begins with, and its name: `run`, or `lab orders`."""
    if not words:
        return None
    name = f"{module} {words[0]}" if module else words[0]
    verbs = _BUILT_IN if name in _BUILT_IN else all_verbs()
    return (name, verbs[name]) if name in verbs else None


def all_verbs() -> dict[str, Verb]:
    """Return every verb by its name, built in, of a module or of an entry point."""
    verbs = dict(_BUILT_IN)
    for name, entry in _added_verbs().items():
        verbs.setdefault(name, entry.load())
    for module, path in MODULES.items():
        verbs |= {f"{module} {verb.name}": verb for verb in load_object(path).verbs}
    return verbs


def _added_verbs() -> dict[str, Any]:
    """Return the entry points of other packages; the name of a module is no verb."""
    return {name: entry for name, entry in installed(ENTRY_POINTS).items() if name not in MODULES}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence and exit code 2.

    Options that the user leaves out are absent from its answer: the API has the defaults.
    """

    needed: tuple[str, ...] = ()  # see Verb.needed
    front: tuple[str, ...] = ()  # see Verb.front
    shows_all = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter,
            argument_default=argparse.SUPPRESS,
            allow_abbrev=False,
            **settings,
        )

    def error(self, message: str, verb: str = "") -> NoReturn:
        """Say what was wrong and where to read on: the help of this parser or of another verb."""
        sentence = message[0].upper() + message[1:].rstrip(".?")
        end = "?" if message.endswith("?") else "."
        self.exit(2, f"edgecil: {sentence}{end} See '{verb or self.prog} --help'.\n")

    def format_help(self) -> str:
        """Return a verb's options and examples; for the whole command line, the verbs by group."""
        if self.prog == "edgecil":
            return "\n".join(_overview()) + "\n"
        arguments = [action for action in self._actions if not action.option_strings]
        options = [action for action in self._actions if action.option_strings]
        needed_options = [
            action for action in options if action.required or action.dest in self.needed
        ]
        words = [_usage_word(action) for action in (*arguments, *needed_options)]
        self.usage = " ".join([self.prog, *words, "[options]"])
        helps = {action: action.help for action in self._actions}
        hidden = []
        if not self.shows_all:
            hidden = [action for action in self._actions if self._is_further(action)]
        for action in hidden:
            action.help = argparse.SUPPRESS
        text = super().format_help()
        for action in hidden:
            action.help = helps[action]
        if not hidden:
            return text
        return f"{text}\n{len(hidden)} further options: {self.prog} --help-all\n"

    def _is_further(self, action: argparse.Action) -> bool:
        """Return whether --help leaves an option to --help-all."""
        if action.help == argparse.SUPPRESS or not action.option_strings or not self.front:
            return False
        name = action.dest.rpartition(".")[2]
        return name not in (*self.front, *self.needed, "help", "help_all", "json")

    def check_options(self, words: Sequence[str]) -> None:
        """Refuse an option that this parser does not have, and name the nearest that it has."""
        options: list[str] = []
        for action in self._actions:
            options += action.option_strings
        for word in words:
            name = word.split("=")[0]
            if name == "--":
                return
            if name.startswith("--") and name not in options:
                self.error(f"unknown option {name}{_hint(nearest(name, options))}")


def _usage_word(action: argparse.Action) -> str:
    """Return how an argument or an option stands in the usage: `[DATASET]`, `--method NAME`."""
    word = f"{action.metavar}..." if action.nargs in ("*", "+") else str(action.metavar)
    if action.nargs in ("?", "*"):
        return f"[{word}]"
    return " ".join([*action.option_strings[:1], word])


class _HelpAll(argparse.Action):
    """Shows every option and leaves."""

    def __call__(self, parser: Any, *_: object) -> None:
        parser.shows_all = True
        parser.print_help()
        parser.exit()


def _hint(suggestions: Iterable[str]) -> str:
    choices = " or ".join(suggestions)
    return f". Did you mean {choices}?" if choices else ""


def _overview() -> Iterator[str]:
    yield from ("usage: edgecil VERB …", "", (edgecil.__doc__ or "").split("\n")[0], "")
    for title, verbs in SECTIONS.items():
        yield from ([f"{title}:"] if title else [])
        yield from (f"  {verb.name:<21} {verb.help}" for verb in verbs)
        yield ""
    yield from (f"  {name:<21} {entry.load().help}" for name, entry in _added_verbs().items())
    yield ""
    for module, path in MODULES.items():
        yield f"'{program_of(module)}' has {load_object(path).help}."
    yield from ("", "'edgecil VERB --help' shows a verb's options and two examples.")


def _module_overview(module: str) -> Iterator[str]:
    group = load_object(MODULES[module])
    yield from (
        f"usage: {program_of(module)} VERB …",
        "",
        f"{group.help[0].upper()}{group.help[1:]}.",
    )
    yield ""
    yield from (f"  {verb.name:<21} {verb.help}" for verb in group.verbs)


def verb_parser(name: str) -> Parser:
    """Return the parser of one verb."""
    verb = _BUILT_IN.get(name) or all_verbs()[name]
    parser = Parser(
        prog=command_of(name),
        description=f"{verb.help[0].upper()}{verb.help[1:]}.",
        epilog="\n".join(["examples:", *(f"  {example}" for example in verb.examples)]),
    )
    parser.needed, parser.front = verb.needed, verb.front
    verb.configure(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    help_all = "show every option" if verb.front else argparse.SUPPRESS
    parser.add_argument("--help-all", action=_HelpAll, nargs=0, help=help_all)
    return parser


def main(argv: Sequence[str] | None = None, module: str = "") -> int:
    """Run one command of `edgecil`, or of a module."""
    _prepare_stdout()
    words = sys.argv[1:] if argv is None else list(argv)
    named_verb = find_verb(words, module)
    if named_verb is None:
        _answer_without_verb(words, module)
    name, verb = named_verb
    parser = verb_parser(name)
    words = words[1:]
    parser.check_options(words)
    namespace, rest = parser.parse_known_args(words)
    if rest:
        parser.error(f"unexpected argument {rest[0]!r}")
    options = vars(namespace)
    json, debug = options.pop("json", False), options.pop("debug", False)
    if debug:
        os.environ[DEBUG] = "1"
    code = 0
    with naming(partial(flag_of, parser)):
        try:
            code = _answer(name, verb, options, json=json)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader has ended (`edgecil … | head`)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (Exception, KeyboardInterrupt) as error:
            if debug:
                raise
            sentence, code = _explain(error)
            note(f"edgecil: {sentence}")
    return code


def _answer_without_verb(words: Sequence[str], module: str) -> NoReturn:
    """Show all verbs of a program, or the version; refuse an unknown verb."""
    top = Parser(prog=program_of(module))
    if module and (not words or words[0] in ("-h", "--help")):
        print("\n".join(_module_overview(module)))
        top.exit(0 if words else 2)
    top.add_argument("--version", action="version", version=f"edgecil {edgecil.__version__}")
    top.add_argument("verb")
    if not words or words[0].startswith("-"):
        top.parse_args(list(words))
    if not module and words[0] in MODULES:
        command = shlex.join(["python", "-m", f"edgecil.{words[0]}", *words[1:]])
        top.error(f"{words[0]!r} is a module, not a verb. Run: {command}")
    prefix = f"{module} " if module else ""
    names = [name.removeprefix(prefix) for name in all_verbs() if name.startswith(prefix)]
    suggestions = nearest(words[0], [name for name in names if " " not in name])
    command = command_of(f"{prefix}{suggestions[0]}") if suggestions else ""
    top.error(f"unknown verb {words[0]!r}{_hint(map(repr, suggestions))}", command)


def _answer(name: str, verb: Verb, options: dict[str, Any], *, json: bool) -> int:
    """Call a verb, print its answer, also if some trainings failed; return the exit code."""
    failure = None
    try:
        answer = verb.run(options)
    except EdgecilError as error:
        if not hasattr(error, "experiment"):
            raise
        from edgecil.experiments.protocol_results import experiment_results

        answer, failure = experiment_results(error.experiment), error
    for sentence in dict.fromkeys(verb.notes(answer)):
        note(sentence)
    if json:
        print_json(verb.plain(answer), name)
    else:
        print_parts(load_object(verb.show)(answer))
    if failure is not None:
        raise failure
    return verb.code(answer)


def _prepare_stdout() -> None:
    """Make printing safe on a closed stdout and in an encoding without Ω."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _explain(error: BaseException) -> tuple[str, int]:
    """Return a sentence and an exit code for any error."""
    if was_interrupted(error):
        return "Interrupted.", INTERRUPTED
    if isinstance(error, EdgecilError):
        return str(error), error.exit_code
    if isinstance(error, MemoryError) or "failed to map segment" in str(error):  # of a library
        return "Not enough memory. Stored results are kept; free memory or use fewer workers.", 1
    if isinstance(error, OSError) and "temporary directory" in str(error):
        advice = "set the environment variable TMPDIR to one that can be written."
        return f"There is no folder for temporary files; {advice}", 1
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f' ({error.filename})' if error.filename else ''}.", 1
    return f"{type(error).__name__}: {first_line(error)} (--debug shows where).", 1
