from __future__ import annotations

import pytest

from edgecil.errors import UsageError
from edgecil.registry import Registry


def colours() -> Registry[str]:
    return Registry("colour", {"dark-red": "#8b0000", "blue": "#0000ff"}, aliases={"navy": "blue"})


@pytest.mark.parametrize("name", ["dark-red", "Dark_Red", "DARK RED", "darkred"])
def test_case_blanks_and_dashes_do_not_matter(name: str) -> None:
    assert colours()[name] == "#8b0000"
    assert colours().resolve(name) == "dark-red"
    assert name in colours()


def test_names_aliases_and_suggestions() -> None:
    registry = colours()
    assert registry.resolve("Navy") == "blue"
    assert (registry.names(), registry.names("*RED*")) == (("dark-red", "blue"), ("dark-red",))
    with pytest.raises(UsageError, match=r"'dark-rad'.*'dark-red'"):
        registry["dark-rad"]
    assert "green" not in registry
    assert 3 not in registry
    registry.add("BLUE", "#00f")
    assert list(registry) == ["dark-red", "BLUE"]
    assert registry["blue"] == "#00f"


def test_register_decorates() -> None:
    registry: Registry[type] = Registry("shape")

    @registry.register("circle")
    class Circle:
        pass

    assert registry["Circle"] is Circle
    assert dict(registry.items()) == {"circle": Circle}
    assert (list(registry.values()), registry.get("square")) == ([Circle], None)
