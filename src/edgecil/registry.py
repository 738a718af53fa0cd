"""A registry of named entries: methods, protocols, datasets, encoders and others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from edgecil.errors import unknown_name_error, warn

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Entries by name; case, blanks, `-` and `_` in a name do not matter.

    Args:
        kind: what an entry is, for error messages: "method", "protocol".
        entries: the first entries.
        aliases: other names of entries.
        plugins: a group of entry points by which installed packages add entries, and a function
            that turns a name and a loaded object into an entry. They are loaded when one of their
            names, or all names, are asked for; one that fails is left out with a warning.

    >>> colours = Registry("colour", {"dark-red": "#8b0000"}, aliases={"maroon": "dark-red"})
    >>> colours["Dark Red"], colours["maroon"], "green" in colours
    ('#8b0000', '#8b0000', False)
    """

    def __init__(
        self,
        kind: str,
        entries: Mapping[str, T] | None = None,
        *,
        aliases: Mapping[str, str] | None = None,
        plugins: tuple[str, Callable[[str, object], T]] | None = None,
    ) -> None:
        self.kind = kind
        self._plugins = plugins
        self._entries: dict[str, T] = dict(entries or {})
        self._aliases = dict(aliases or {})

    def add(self, name: str, entry: T) -> T:
        """Register an entry; an entry with the same name is replaced."""
        same_names = [existing for existing in self._entries if _key(existing) == _key(name)]
        for same_name in same_names:
            del self._entries[same_name]
        self._entries[name] = entry
        return entry

    def register(self, name: str) -> Callable[[T], T]:
        """Decorate a function or class to register it."""
        return lambda entry: self.add(name, entry)

    def resolve(self, name: str) -> str:
        """Return the name as it was registered; an unknown name is an error with suggestions."""
        canonical = self._find(name)
        if canonical is None:
            self._load_plugins()
            raise unknown_name_error(self.kind, name, self._entries)
        return canonical

    def declared_names(self) -> set[str]:
        """Return the names of all entries, of plug-ins too, without loading any plug-in."""
        group_names = set() if self._plugins is None else set(installed(self._plugins[0]))
        return {*self._entries, *group_names}

    def names(self, pattern: str = "*") -> tuple[str, ...]:
        """Return names that match a shell pattern such as `*vit*`, in the order of registration."""
        return tuple(name for name in self if fnmatchcase(name.lower(), pattern.lower()))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the entry of a name, or the default if there is none."""
        return self[name] if name in self else default  # noqa: SIM401

    def __getitem__(self, name: str) -> T:
        return self._entries[self.resolve(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        self._load_plugins()
        return iter(self._entries)

    def __len__(self) -> int:
        self._load_plugins()
        return len(self._entries)

    def _find(self, name: str) -> str | None:
        canonical = name if name in self._entries else self._by_key(name)
        if canonical is None and self._plugins is not None and name in installed(self._plugins[0]):
            self._load_plugins()
            return self._by_key(name)
        return canonical

    def _load_plugins(self) -> None:
        """Load the entries of other packages, once."""
        if self._plugins is None:
            return
        group, make = self._plugins
        self._plugins = None
        for point in installed(group).values():
            if self._by_key(point.name) is not None:
                continue
            try:
                self._entries[point.name] = make(point.name, point.load())
            except Exception as error:
                warn(
                    f"The {self.kind} {point.name!r} of the installed package that defines "
                    f"{point.value} cannot be used: {type(error).__name__}: {error}."
                )

    def _by_key(self, name: str) -> str | None:
        name_of_key = {_key(alias): target for alias, target in self._aliases.items()}
        name_of_key |= {_key(entry): entry for entry in self._entries}
        return name_of_key.get(_key(name))


@cache
def installed(group: str) -> Registry[EntryPoint]:
    """Return the entry points of installed packages in a group, by name."""
    return Registry(group, {point.name: point for point in entry_points(group=group)})


def _key(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()
