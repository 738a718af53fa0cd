"""Verbs: each calls one function of the API, whose signature and docstring are its options.

A parameter of the function is a flag of its name; one that takes a group of options
(:mod:`edgecil.options`) stands for the flags of its fields. A parameter is documented in the
function's docstring, an option of a group beside its field.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from inspect import Parameter, cleandoc, signature
from operator import attrgetter
from pathlib import Path
from typing import Any, get_args, get_origin

from edgecil.hints import (
    alternatives,
    choices_of,
    class_types,
    function_types,
    is_list_of,
    shared_classes,
)
from edgecil.io.numbers import parse_float, parse_int
from edgecil.options import Options, default_of, group_of


@dataclass(frozen=True)
class Option:
    """An option of a verb, or an argument without a flag.

    Attributes:
        name: the parameter, or `group.field`; `order_seed` is written --order-seed.
        help: a few words.
        kind: `str`, `int`, `float`, `bool`, `switch` (also --no-NAME), `ints`, `names` (both
            comma-separated) or `settings` (NAME=VALUE, repeatable).
        metavar: stands for the value; by default chosen by kind.
        choices: the values that are allowed.
        flag: without dashes, where it differs from the name.
        required: whether the option must be given.
        count: of an argument: `one`, `?`, `*` or `+`.
    """

    name: str
    help: str
    kind: str = "str"
    metavar: str = ""
    choices: tuple[str, ...] = ()
    flag: str = ""
    required: bool = False
    count: str = ""

    def add(self, parser: argparse._ActionsContainer) -> None:
        """Add the option to a parser, or to a group of options of a parser."""
        keywords: dict[str, Any] = {"help": self.help.replace("%", "%%")}
        if self.kind == "bool":
            keywords["action"] = "store_true"
        elif self.kind == "switch":
            keywords["action"] = argparse.BooleanOptionalAction
        else:
            metavar, read = _KINDS[self.kind]
            keywords["metavar"] = self.metavar or metavar
            if self.choices:
                keywords["choices"] = self.choices
            if read is None:
                keywords["action"] = SettingsAction
            else:
                keywords["type"] = read
        if self.count:
            nargs = None if self.count == "one" else self.count
            parser.add_argument(self.name, nargs=nargs, **keywords)
        if not self.count or self.count == "?":  # an argument may also be given by its flag
            flag = as_flag(self.flag or self.name.rpartition(".")[2])
            if self.count:
                keywords["help"] = argparse.SUPPRESS
            else:
                keywords["required"] = self.required
            parser.add_argument(flag, *_ALIASES.get(flag, ()), dest=self.name, **keywords)


@dataclass(frozen=True)
class Verb:
    """What `edgecil VERB` does.

    Attributes:
        name: the verb, in a group of verbs the second word.
        help: one line for the list of verbs.
        examples: two commands.
        api: the function that is called, as `module:name`; it documents the options.
        show: the tables and lines that people read, from its answer; a function or its path.
        arguments: parameters whose values are written without a flag.
        without: parameters that the command line does not offer.
        further: options that `api` lacks, or that replace an option of `api`.
        call: what is called in place of `api`, a function or its path.
        needed: options that a config file may give, and that are required without one.
        front: the options that --help shows, others only --help-all; empty shows all.
        notes: sentences beside the answer, for stderr.
        plain: what --json prints of the answer, by default all.
        code: the exit code, by the answer.
    """

    name: str
    help: str
    examples: tuple[str, str]
    api: str
    show: Callable[..., Iterable[Any]] | str
    arguments: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    further: tuple[Option, ...] = ()
    call: Callable[..., Any] | str = ""
    needed: tuple[str, ...] = ()
    front: tuple[str, ...] = ()
    notes: Callable[[Any], Iterable[str]] = lambda answer: ()
    plain: Callable[[Any], Any] = lambda answer: answer
    code: Callable[[Any], int] = lambda answer: 0

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to a parser, the options of a group under its title."""
        further = {option.name: option for option in self.further}
        sections: dict[str, argparse._ActionsContainer] = {}
        declared = options_of(load_object(self.api), self.arguments) if self.api else ()
        for option in (*declared, *self.further):
            if option.name in self.without or further.get(option.name, option) != option:
                continue
            group, _, name = option.name.rpartition(".")
            if not group or name in self.arguments:
                option.add(parser)
                continue
            if group not in sections:
                sections[group] = parser.add_argument_group(group)
            option.add(sections[group])

    def run(self, options: Mapping[str, Any]) -> Any:
        """Call the API with the options that were given, `group.field` under `group`."""
        nested: dict[str, Any] = {}
        for name, value in options.items():
            group, _, parameter = name.rpartition(".")
            values = nested.setdefault(group, {}) if group else nested
            values[parameter] = value
        return load_object(self.call or self.api)(**nested)


@dataclass(frozen=True)
class VerbGroup:
    """Verbs of a module: `python -m edgecil.lab VERB …`; the help completes 'the module has'."""

    help: str
    verbs: tuple[Verb, ...]


def load_object(path_or_object: Any) -> Any:
    """Return the object at a path such as `edgecil.training.run:run`; an object is returned."""
    if not isinstance(path_or_object, str):
        return path_or_object
    module, name = path_or_object.split(":")
    return attrgetter(name)(import_module(module))


def read_section(docstring: str | None, title: str = "Attributes") -> dict[str, str]:
    r"""Return the entries of a section of a docstring, by name, each on one line.

    >>> read_section("A pair.\n\nAttributes:\n    left: the first\n        one.\n    right: other.")
    {'left': 'the first one.', 'right': 'other.'}
    """
    section = cleandoc(docstring or "").partition(f"{title}:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, flags=re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in entries}


def as_flag(name: str) -> str:
    """Return the flag of an option: `order_seed` is --order-seed."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def flag_of(parser: argparse.ArgumentParser, parameter: str) -> str:
    """Return a parameter of the API as a parser's usage names it, else in quotes."""
    for action in parser._actions:
        flag = action.option_strings[0] if action.option_strings else str(action.metavar)
        if parameter in (action.dest.rpartition(".")[2], flag[2:]):
            return flag
    return repr(parameter)


def options_of(function: Callable[..., Any], arguments: Iterable[str] = ()) -> Iterator[Option]:
    """Yield the options of a function: its parameters and the fields of its groups."""
    meanings = parameter_meanings(function)
    parameters = signature(function).parameters
    for name, hint in function_types(function).items():
        if name in parameters and parameters[name].kind is Parameter.VAR_POSITIONAL:
            continue  # text cannot give such an object
        group = group_of(hint)
        if group is not None:
            yield from _group_options(name, group, arguments)
            continue
        default = _default_of(name, hint, parameters)
        kind = _kind(hint, default)
        if kind is None:
            continue
        count = ""
        required = default is Parameter.empty
        if name in arguments:
            if kind == "names" or any(map(_is_list, alternatives(hint))):
                kind = "str"
                count = "+" if required else "*"
            else:
                count = "one" if required else "?"
        metavar = "PATH" if _has_path(hint) else ""
        yield Option(
            name,
            _text(meanings[name], default),
            kind,
            name.upper() if count else metavar,
            choices_of(hint),
            required=required,
            count=count,
        )


def _default_of(name: str, hint: Any, parameters: Mapping[str, Parameter]) -> Any:
    """Return the default of a parameter; options of a shared group have none but False."""
    parameter = parameters.get(name)
    if parameter is None or parameter.kind is Parameter.VAR_KEYWORD:
        return False if alternatives(hint)[0] is bool else None
    return parameter.default


def parameter_meanings(function: Callable[..., Any]) -> dict[str, str]:
    """Return what each parameter means, by its name.

    A docstring refers to the group of options that documents a parameter in these words, and
    `**more: Unpack[T]` is documented by the class T:

        tasks: see :class:`edgecil.sequences.space.TaskSizes`.
    """
    meanings = read_section(function.__doc__, "Args")
    for name, meaning in meanings.items():
        reference = re.fullmatch(r"see :class:`([\w.]+)[.](\w+)`[.]", meaning)
        if reference is not None:
            group = load_object(":".join(reference.groups()))
            meanings[name] = group.__dataclass_fields__[name].metadata["help"]
    for shared in shared_classes(function):
        meanings |= read_section(shared.__doc__)
    return meanings


def _group_options(
    parameter: str, group: type[Options], arguments: Iterable[str]
) -> Iterator[Option]:
    types = class_types(group)
    for entry in fields(group):
        kind = _kind(types[entry.name], None)
        assert kind is not None
        is_argument = entry.name in arguments
        yield Option(
            f"{parameter}.{entry.name}",
            _text(entry.metadata["help"], default_of(entry)),
            kind,
            entry.name.upper() if is_argument else entry.metadata["metavar"],
            flag=entry.metadata["flag"],
            count="?" if is_argument else "",
        )


def _kind(hint: Any, default: Any) -> str | None:
    """Return the kind of an option, by its first type; None if text cannot give it."""
    kinds = alternatives(hint)
    first = kinds[0]
    if first is bool:
        return "bool" if default is False else "switch"
    if first in (int, float):
        return str(first.__name__)
    if is_list_of(first, int):
        return "ints"
    if is_list_of(first, str):
        return "names"
    if get_origin(first) is Mapping:
        return "settings"
    if get_origin(first) is Callable:
        return None
    is_text = choices_of(hint) or str in kinds or Path in kinds
    return "str" if is_text or any(map(_has_text, kinds)) else None


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in (Sequence, Iterable)


def _has_text(kind: Any) -> bool:
    """Return whether a type is a list whose items may be text."""
    return _is_list(kind) and str in alternatives(get_args(kind)[0])


def _has_path(hint: Any) -> bool:
    """Return whether a path, or a list of paths, is allowed."""
    items = [get_args(kind)[0] for kind in alternatives(hint) if _is_list(kind)]
    return any(Path in alternatives(kind) for kind in (hint, *items))


def _text(meaning: str, default: Any) -> str:
    """Return the help of an option: what it means, and its default if that is a value."""
    of_command_line = re.sub(r"[.,;]? [Ii]n Python also [^.;]*", "", meaning)
    text = re.sub(":(func|class|data):", "", of_command_line).rstrip(".").replace("`", "'")
    if default in (None, (), "*", {}, False, MISSING, Parameter.empty):
        return text
    if default is True:
        return f"{text} (default)"
    defaults = default if isinstance(default, (tuple, list)) else (default,)
    return f"{text} (default: {','.join(map(str, defaults))})"


def _reader(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that reads an argument by `parse`, whose error it passes on."""

    def read(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


class SettingsAction(argparse.Action):
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
        table = vars(namespace).setdefault(self.dest, {})
        for part in parts[:-1]:
            table = table.setdefault(part, {})
        try:
            table[parts[-1]] = json.loads(text)
        except ValueError:
            table[parts[-1]] = text


def _split_integers(text: str) -> tuple[int, ...]:
    return tuple(parse_int(part) for part in text.split(","))


def _split_names(text: str) -> tuple[str, ...]:
    """Return each name once."""
    names = [part.strip() for part in text.split(",")]
    return tuple(dict.fromkeys(names))


# By kind, what stands for the value, and how it is read.
_KINDS: dict[str, tuple[str, Callable[[str], Any] | None]] = {
    "str": ("NAME", str),
    "int": ("N", _reader(parse_int)),  # does not read 1_0 as 10
    "float": ("X", _reader(parse_float)),
    "ints": ("A,B,…", _reader(_split_integers)),
    "names": ("A,B,…", _split_names),
    "settings": ("NAME=VALUE", None),
}
# the paper's, torch's
_ALIASES = {"--protocol": ["--eval"], "--normalisation": ["--normalization"]}
