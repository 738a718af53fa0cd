"""Objects that are read like mappings: `in`, `len`, iteration over names, and access by name."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Generic, TypeVar, overload

from edgecil.errors import UnknownNameError, unknown_name_error

T = TypeVar("T")
Default = TypeVar("Default")


class Entries(Generic[T]):
    """An object that is read by name; subclasses define `_entries`, and name its kind.

    It does not inherit from `Mapping`, which would make two objects with equal entries equal.

    >>> class Menu(Entries[float]):
    ...     _kind = "dish"
    ...
    ...     def _entries(self):
    ...         return {"soup": 4.5, "bread": 1.0}
    >>> menu = Menu()
    >>> list(menu), len(menu), "soup" in menu, menu["bread"], menu.get("cake")
    (['soup', 'bread'], 2, True, 1.0, None)
    """

    _kind = "name"

    def _entries(self) -> Mapping[str, T]:
        """Return the entries by name."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> T:
        entries = self._entries()
        if name not in entries:
            raise UnknownNameError(*unknown_name_error(self._kind, name, entries).args)
        return entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries()

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    def __bool__(self) -> bool:
        return True

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._entries().keys()

    def values(self) -> ValuesView[T]:
        """Return the entries."""
        return self._entries().values()

    def items(self) -> ItemsView[str, T]:
        """Return the names, each with its entry."""
        return self._entries().items()

    @overload
    def get(self, name: str) -> T | None: ...

    @overload
    def get(self, name: str, default: Default) -> T | Default: ...

    def get(self, name: str, default: object = None) -> object:
        """Return the entry of a name, or the default if there is none."""
        return self._entries().get(name, default)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._entries())
