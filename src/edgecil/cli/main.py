"""`edgecil VERB …`: parse the words, run the verb, turn errors into one sentence and a code."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import re
import sys
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol

import edgecil
from edgecil.cli import (
    analyze,
    backbones,
    captions,
    compare_similarities,
    completion,
    datasets,
    encoders,
    external,
    import_logs,
    methods,
    protocols,
    recipes,
    report,
    run,
    score,
    sequences,
    similarity,
    space,
    status,
    toolbox,
)
from edgecil.errors import EdgecilError, unknown


class Verb(Protocol):
    """A module of this package: what `edgecil VERB` does."""

    NAME: str
    HELP: str
    EXAMPLES: tuple[str, str]

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's options; each is named as the parameter that it sets."""

    @property
    def run(self) -> Callable[..., None]:
        """Called with the options that were given, by name: calls the API, prints the answer."""


GROUPS: dict[str, tuple[Verb, ...]] = {
    "prepare": (
        datasets,
        encoders,
        backbones,
        methods,
        protocols,
        recipes,
        similarity,
        captions,
        compare_similarities,
        sequences,
        score,
        space,
    ),
    "run": (run, status),
    "understand": (analyze, report),
    "connect": (external, toolbox, import_logs),
    "set up": (completion,),
}
VERBS = {verb.NAME: verb for group in GROUPS.values() for verb in group}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence and exit code 2.

    Options that are not given are absent from its answer: the API has the defaults.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter,
            argument_default=argparse.SUPPRESS,
            allow_abbrev=False,
            **settings,
        )
        self.verbs: dict[str, Parser] = {}

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and where to read on."""
        sentence = message[0].upper() + message[1:].rstrip(".?")
        end = "?" if message.endswith("?") else "."
        self.exit(2, f"edgecil: {sentence}{end} See '{self.prog} --help'.\n")

    def format_help(self) -> str:
        """A verb's options and examples; for the whole command line, the verbs by group."""
        if not self.verbs:
            required = [it for it in self._actions if it.required or not it.option_strings]
            words = (" ".join([*it.option_strings[:1], str(it.metavar)]) for it in required)
            self.usage = f"{self.prog} {' '.join(words)} [options]".replace("  ", " ")
            return super().format_help()
        lines = ["usage: edgecil VERB …", "", str(self.description), ""]
        for title, verbs in GROUPS.items():
            lines += [f"{title}:", *(f"  {verb.NAME:<21} {verb.HELP}" for verb in verbs), ""]
        lines.append("'edgecil VERB --help' shows a verb's options and two examples.")
        return "\n".join(lines) + "\n"

    def options(self) -> list[str]:
        """Every option, as it is written."""
        return [word for action in self._actions for word in action.option_strings]

    def check_options(self, words: Sequence[str]) -> None:
        """Refuse an option that this parser does not have, and name the nearest that it has."""
        for word in words:
            name = word.split("=")[0]
            if name == "--":
                return
            if name.startswith("--") and name not in self.options():
                near = difflib.get_close_matches(name, self.options(), n=2)
                hint = f". Did you mean {' or '.join(near)}?" if near else ""
                self.error(f"unknown option {name}{hint}")

    def translate(self, sentence: str, given: Container[str]) -> str:
        """The library's error with its parameters written as options: 'tasks' as --tasks.

        With a config file only the options that are given: the others may be the file's.
        """
        for action in self._actions:
            name, written = action.dest, action.option_strings[:1] or [str(action.metavar)]
            if name not in _UNTRANSLATED and (name in given or "config" not in given):
                pattern = rf"(?<!Got )(\b[Tt]he )?'{re.escape(name)}'( parameter)?"
                sentence = re.sub(pattern, written[0], sentence)
        return sentence


_UNTRANSLATED = ("help", "version", "json", "debug", "run", "verb")


def build_parser() -> Parser:
    """The whole command line."""
    parser = Parser(
        prog="edgecil",
        description=(edgecil.__doc__ or "").split("\n")[0],
    )
    parser.add_argument("--version", action="version", version=f"edgecil {edgecil.__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, verb in VERBS.items():
        examples = "\n".join(f"  {example}" for example in verb.EXAMPLES)
        sub: Parser = verbs.add_parser(
            name,
            prog=f"edgecil {name}",
            help=verb.HELP,
            description=verb.HELP[0].upper() + verb.HELP[1:] + ".",
            epilog=f"examples:\n{examples}",
        )
        verb.configure(sub)
        if verb is not completion:
            sub.add_argument(
                "--json", action="store_true", default=False, help="print one JSON object on stdout"
            )
        sub.add_argument("--debug", action="store_true", default=False, help="show tracebacks")
        parser.verbs[name] = sub
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 for success, 2 for a command with a wrong argument, 1 for any other failure.
    """
    _prepare_stdout()
    words = sys.argv[1:] if argv is None else list(argv)
    parser = build_parser()
    if words and not words[0].startswith("-") and words[0] not in VERBS:
        parser.error(str(unknown("verb", words[0], VERBS)))
    if words and words[0] in VERBS:
        parser.verbs[words[0]].check_options(words[1:])
    namespace, rest = parser.parse_known_args(words)
    options = vars(namespace)
    verb, debug = options.pop("verb"), options.pop("debug")
    if rest:
        parser.verbs[verb].error(f"unexpected argument {rest[0]!r}")
    try:
        VERBS[verb].run(**options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader is gone (`edgecil … | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        sentence, code = _explain(error)
        sentence = parser.verbs[verb].translate(sentence, options)
        print(f"edgecil: {sentence}", file=sys.stderr)
        return code
    return 0


def _prepare_stdout() -> None:
    """Make printing safe on a closed stdout and in an encoding without Ω."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _explain(error: BaseException) -> tuple[str, int]:
    """A sentence and an exit code for any error."""
    if isinstance(error, EdgecilError):
        return str(error), error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted.", 130
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror}{where}.", 1
    return f"{type(error).__name__}: {error} (--debug shows where).", 1
