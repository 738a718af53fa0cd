"""What a verb declares: its options, each named as the parameter of the API that it sets."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import signature
from operator import attrgetter
from typing import Any

from edgecil.io.docstrings import read_section
from edgecil.io.numbers import parse_float, parse_int


@dataclass(frozen=True)
class Option:
    """An option of a verb, or an argument if `place` is set.

    Attributes:
        name: the parameter; `order_seed` is written --order-seed.
        metavar: stands for the value; a switch has none.
        help: a few words.
        type: converts the text; a subclass of argparse.Action stores it in its own way.
        place: "one", "?", "*" or "+" for an argument without a name.
        required: whether the option must be given.
        choices: the values that are allowed.
    """

    name: str
    metavar: str
    help: str
    type: Any = str
    place: str = ""
    required: bool = False
    choices: tuple[str, ...] | None = None

    def add(self, parser: argparse._ActionsContainer) -> None:
        """Add it to a parser or to a group of one."""
        keywords: dict[str, Any] = {"help": self.help.replace("%", "%%")}
        if isinstance(self.type, type) and issubclass(self.type, argparse.Action):
            keywords["action"] = self.type
        elif self.metavar:
            keywords |= {"type": _CONVERTERS.get(self.type, self.type), "choices": self.choices}
        else:
            keywords["action"] = "store_true"
        if self.metavar:
            keywords["metavar"] = self.metavar
        if self.place:
            nargs = None if self.place == "one" else self.place
            parser.add_argument(self.name, nargs=nargs, **keywords)
        else:
            flags = (f"--{self.name.replace('_', '-')}", *_ALIASES.get(self.name, ()))
            parser.add_argument(*flags, dest=self.name, required=self.required, **keywords)


Options = Mapping[str, Iterable["str | Option"]]


@dataclass(frozen=True)
class Verb:
    """What `edgecil VERB` does.

    Attributes:
        name: the verb.
        help: one line for the list of verbs.
        examples: two commands.
        options: by title of their group. A text has names of parameters of `api` or of options of
            `edgecil run`: `tasks`, or `<tasks>`, `<tasks...>`, `[tasks]`, `[tasks...]` for
            arguments without a name; `...` stands for all other options that `api` has.
        call: calls the API with the options that were given, and returns its answer.
        show: the tables and lines that people read, from that answer.
        api: the function that documents the options, as `module:name`.
        shown: options that `show` takes instead of `call`.
        needed: options that a config file may give, and that are required without one.
        notes: sentences beside the answer, for stderr.
        plain: what --json prints of the answer, all of it by default; `edgecil.cli.answers` has
            its type.
    """

    name: str
    help: str
    examples: tuple[str, str]
    options: Options
    call: Callable[..., Any]
    show: Callable[..., Iterable[Any]]
    api: str = ""
    shown: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    notes: Callable[[Any], Iterable[str]] = lambda answer: ()
    plain: Callable[[Any], Any] = lambda answer: answer

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to a parser, group by group."""
        for title, entries in self.options.items():
            group = parser.add_argument_group(title) if title else parser
            for entry in entries:
                if entry == "...":
                    from edgecil.engine.options import OPTIONS

                    rest = {*OPTIONS} - {action.dest for action in parser._actions}
                    entry = " ".join(it for it in signature(self._api()).parameters if it in rest)
                for option in (entry,) if isinstance(entry, Option) else self._read(entry):
                    option.add(group)

    def _read(self, text: str) -> Iterator[Option]:
        """Yield the options that a text names."""
        for word in text.split():
            name = word.strip("<[.]>")
            option = (self._parameter(name) if self.api else None) or run_option(name)
            if name == "dataset":
                word = "[dataset]"
            if name != word:
                place = {"<": ("one", "+"), "[": ("?", "*")}[word[0]]["..." in word]
                yield replace(option, place=place, metavar=name.upper(), type=str)
            if name == "dataset":
                yield replace(option, help=argparse.SUPPRESS)
            elif name == word:
                yield option

    def _api(self) -> Any:
        module, path = self.api.split(":")
        return attrgetter(path)(import_module(module))

    def _parameter(self, name: str) -> Option | None:
        """Return a parameter of `api` as its signature and its docstring describe it."""
        documented = self._api()
        if name not in documented.__annotations__:  # an option of `run`
            return None
        parameter = signature(documented).parameters[name]
        kind, default = str(parameter.annotation), parameter.default
        meaning = _for_terminal(read_section(documented.__doc__, "Args")[name])
        required = default is parameter.empty
        if not required and default not in (None, (), "*") and default is not False:
            listed = default if isinstance(default, (tuple, list)) else (default,)
            meaning += f" (default: {','.join(map(str, listed))})"
        converter, metavar = next((it for type_, it in _TYPES.items() if kind.startswith(type_)))
        metavar = _METAVARS.get(name, "PATH" if "Path" in kind else metavar)
        if name == "protocol" and "Sequence[str]" in kind:
            converter, metavar = _TYPES["Sequence[str]"]
        return Option(name, metavar, meaning, converter, required=required)


def calling(name: str, key: str = "", room: str = "edgecil") -> Callable[..., Any]:
    """Return a function that calls a public function; with a key, its answer is under that key.

    Args:
        name: of the function.
        key: of its answer.
        room: the package that has it.
    """

    def call(**options: Any) -> Any:
        answer = getattr(import_module(room), name)(**options)
        return {key: answer} if key else answer

    return call


def run_option(name: str) -> Option:
    """Return the option of this name that `edgecil run` has, as `ExperimentConfig` documents it."""
    from edgecil.engine.options import describe_options

    kind, meaning = describe_options()[name]
    meaning = _for_terminal(meaning)
    if kind is bool:
        return Option(name, "", meaning, argparse.BooleanOptionalAction)
    if kind in (int, float, str) or name == "sequences":
        numeric = kind if kind in (int, float) else None
        metavar = {int: "N", float: "X"}.get(kind, "NAME")
        return Option(name, _METAVARS.get(name, metavar), meaning, numeric or str)
    if kind in (tuple[int, ...], tuple[str, ...]):
        return Option(name, "A,B,…", meaning, numbers if kind == tuple[int, ...] else names)
    metavar = "METHOD.NAME=VALUE" if name == "set" else "NAME=VALUE"
    return Option(name, metavar, f"{meaning}; repeatable", Settings)


def _for_terminal(meaning: str) -> str:
    """Return the help of an option from the description of a parameter, without Python objects."""
    meaning = re.sub(r" In Python also [^.]*\.?", "", meaning).rstrip(".")
    meaning = re.sub(r":\w+:(?=`)", "", meaning)  # :func:`edgecil.run`
    return re.sub(r"`(out|config|budget|increment|threads)`", r"--\1", meaning).replace("`", "'")


def _converter(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that reads an argument; its error is that of `parse`."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert


def numbers(text: str) -> tuple[int, ...]:
    """Parse integers written as 50,25,25."""
    try:
        return tuple(parse_int(number) for number in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"takes integers such as 50,25,25, got {text!r}"
        ) from error


def names(text: str) -> tuple[str, ...]:
    """Parse names written as icarl,der; each counts once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",")))


class Settings(argparse.Action):
    """Collects NAME=VALUE in a mapping; VALUE is JSON or plain text, a dot in NAME nests."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add one setting."""
        path, equals, text = str(values).partition("=")
        parts = path.split(".")
        depth = str(self.metavar).partition("=")[0].count(".")
        if not equals or not all(parts) or len(parts) <= depth:
            raise argparse.ArgumentError(self, f"takes {self.metavar}, got {values!r}")
        inner = vars(namespace).setdefault(self.dest, {})
        for part in parts[:-1]:
            inner = inner.setdefault(part, {})
        try:
            inner[parts[-1]] = json.loads(text)
        except ValueError:
            inner[parts[-1]] = text


# Neither reads 1_0 as 10.
_CONVERTERS: dict[Any, Any] = {int: _converter(parse_int), float: _converter(parse_float)}
_ALIASES = {"protocol": ["--eval"], "normalisation": ["--normalization"]}  # the paper's, torch's
_METAVARS = {
    name: metavar
    for metavar, names in {
        "FILE": "captions embeddings jsonl names sequence sequences similarity",
        "DIR": "root tensorboard",
        "PATH": "config pilot weights",
        "TEXT": "prompt template",
        "GOAL": "goal until",
        "COMMAND": "command python",
        "ADDRESS": "address",
        "I/N": "shard",
    }.items()
    for name in names.split()
}
_TYPES: dict[str, tuple[Any, str]] = {
    "int": (int, "N"),
    "float": (float, "X"),
    "bool | None": (argparse.BooleanOptionalAction, ""),
    "bool": (bool, ""),
    "Sequence[int]": (numbers, "A,B,…"),
    "Sequence[str]": (names, "A,B,…"),
    "Mapping": (Settings, "NAME=VALUE"),
    "": (str, "NAME"),
}
SIMILARITY = (
    "dataset classes classes_seed names encoder template captions weights similarity embeddings"
)
DATA = f"{SIMILARITY} class_ids root image_size preparation normalisation download"
SPACE = "tasks base increment sizes"
OVERWRITE = Option("overwrite", "", "replace the file if it exists")
PROTOCOL = "protocol budget order_seed objective"
