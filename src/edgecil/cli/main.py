"""`edgecil VERB …`: parse the words, run the verb, turn errors into one sentence and a code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import edgecil
from edgecil.cli import (
    INTERRUPTED,
    analyses,
    comparing,
    connect,
    lists,
    search,
    sequences,
    similarities,
    training,
    was_interrupted,
)
from edgecil.cli.completion import SHELLS, script
from edgecil.cli.output import note, print_json, print_parts
from edgecil.cli.verb import Option, Verb
from edgecil.errors import DataError, EdgecilError, nearest, rename_parameters

GROUPS: dict[str, tuple[Verb, ...]] = {
    "prepare": (*lists.VERBS, *similarities.VERBS, *sequences.VERBS),
    "run": (*training.VERBS, *search.VERBS),
    "understand": (*analyses.VERBS, *comparing.VERBS),
    "connect": connect.VERBS,
    "set up": (
        Verb(
            "completion",
            "print a completion script for bash, zsh or tcsh",
            (
                "edgecil completion bash > ~/.local/share/bash-completion/completions/edgecil",
                "edgecil completion zsh > ~/.zfunc/_edgecil",
            ),
            {"": (Option("shell", "SHELL", "bash, zsh or tcsh", place="one", choices=SHELLS),)},
            lambda shell: script(build_parser(), shell),
            lambda script: (script,),
        ),
    ),
}
VERBS = {verb.name: verb for group in GROUPS.values() for verb in group}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence and exit code 2.

    Options that are not given are absent from its answer: the API has the defaults.
    """

    needed: tuple[str, ...] = ()  # see Verb.needed

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
        words = []
        for it in sorted(self._actions, key=lambda it: bool(it.option_strings)):
            if it.required or not it.option_strings or it.dest in self.needed:
                word = f"{it.metavar}..." if it.nargs in ("*", "+") else str(it.metavar)
                optional = it.nargs in ("?", "*")
                words.append(f"[{word}]" if optional else " ".join([*it.option_strings[:1], word]))
        self.usage = f"{self.prog} {' '.join(words)} [options]".replace("  ", " ")
        return super().format_help()

    def check_options(self, words: Sequence[str]) -> None:
        """Refuse an option that this parser does not have, and name the nearest that it has."""
        options = [word for action in self._actions for word in action.option_strings]
        for word in words:
            name = word.split("=")[0]
            if name == "--":
                return
            if name.startswith("--") and name not in options:
                verbs = (f"'edgecil {verb}'" for verb in nearest(name[2:], VERBS))
                self.error(f"unknown option {name}{_hint(nearest(name, options) or verbs)}")

    def translate(self, sentence: str, given: Mapping[str, Any]) -> str:
        """Return the library's error with its parameters written as options: 'tasks' as --tasks.

        With a file of options only those that are given: the others may be the file's. An error
        that names the file is about what the file says, and stays as it is.
        """
        if str(given.get("config", "\0")) in sentence:
            return sentence
        # A config that is required is another tool's and has none of these options.
        configured = any(it.dest == "config" and not it.required for it in self._actions)
        options = {
            action.dest: (action.option_strings or [str(action.metavar)])[0]
            for action in reversed(self._actions)  # an argument counts before its option
            if action.dest not in ("help", "json", "debug")
            and (action.dest in given or "config" not in given or not configured)
        }
        return rename_parameters(sentence, options, list(given.values()))


def _hint(near: Iterable[str]) -> str:
    listed = " or ".join(near)
    return f". Did you mean {listed}?" if listed else ""


def _overview() -> Iterator[str]:
    yield from ("usage: edgecil VERB …", "", (edgecil.__doc__ or "").split("\n")[0], "")
    for title, verbs in GROUPS.items():
        yield from (f"{title}:", *(f"  {verb.name:<21} {verb.help}" for verb in verbs), "")
    yield "'edgecil VERB --help' shows a verb's options and two examples."


def verb_parser(name: str, make: Any = Parser) -> Parser:
    """Return the parser of one verb; `make` creates it."""
    verb = VERBS[name]
    parser: Parser = make(
        prog=f"edgecil {name}",
        description=f"{verb.help[0].upper()}{verb.help[1:]}.",
        epilog="\n".join(["examples:", *(f"  {example}" for example in verb.examples)]),
    )
    parser.needed = verb.needed
    verb.configure(parser)
    if name != "completion":
        parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
    return parser


def build_parser(verbs: Iterable[str] = VERBS) -> Parser:
    """Build the parser of the whole command line."""
    parser = Parser(prog="edgecil")
    parser.add_argument("--version", action="version", version=f"edgecil {edgecil.__version__}")
    group = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in verbs:
        verb_parser(
            name,
            lambda name=name, **settings: group.add_parser(name, help=VERBS[name].help, **settings),
        )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 for success, 2 for a command with a wrong argument, 1 for any other failure.
    """
    _prepare_stdout()
    words = sys.argv[1:] if argv is None else list(argv)
    if not words or words[0] not in VERBS:
        top = build_parser(())
        if words and not words[0].startswith("-"):
            near = nearest(words[0], VERBS)
            top.error(
                f"unknown verb {words[0]!r}{_hint(map(repr, near))}",
                *(f"edgecil {verb}" for verb in near[:1]),
            )
        top.parse_args(words)
    parser = verb_parser(name := words.pop(0))
    parser.check_options(words)
    namespace, rest = parser.parse_known_args(words)
    if rest:
        parser.error(f"unexpected argument {rest[0]!r}")
    options = vars(namespace)
    json, debug = options.pop("json", False), options.pop("debug", False)
    edgecil.errors.show_warnings(lambda sentence: parser.translate(sentence, options))
    try:
        _answer(name, options, json=json)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader is gone (`edgecil … | head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        sentence, code = _explain(error)
        if not isinstance(error, DataError | MemoryError):  # the first quotes what a file contains
            sentence = parser.translate(sentence, options)
        note(f"edgecil: {sentence}")
        return code
    return 0


def _answer(name: str, options: dict[str, Any], *, json: bool) -> None:
    """Call a verb and print its answer, also the results beside trainings that failed."""
    verb, failure = VERBS[name], None
    shown = {option: options.pop(option) for option in verb.shown if option in options}
    try:
        answer = verb.call(**options)
    except EdgecilError as error:
        if not hasattr(error, "experiment"):
            raise
        from edgecil.engine.protocol_results import experiment_results

        answer, failure = experiment_results(error.experiment), error
    for sentence in verb.notes(answer):
        note(sentence)
    if json:
        print_json(verb.plain(answer), name)
    else:
        print_parts(verb.show(answer, **shown))
    if failure is not None:
        raise failure


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
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f' ({error.filename})' if error.filename else ''}.", 1
    return f"{type(error).__name__}: {error} (--debug shows where).", 1
