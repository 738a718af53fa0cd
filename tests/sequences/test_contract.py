"""The contract of protocols: over everything registered, and against protocols that break it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import edgecil
from edgecil.analysis.calibration import calibration
from edgecil.errors import UsageError
from edgecil.sequences import PROTOCOLS, ClassSequence, LabelledSequence, Protocol, SequenceSpace
from edgecil.sequences.protocols import (
    draw_protocols,
    find_protocol,
    parse_protocols,
    register_protocol,
    registered,
)
from edgecil.sequences.protocols.protocol import Request
from edgecil.sequences.protocols.protocol_contract import PROTOCOL_CHECKS, check_protocol
from edgecil.sequences.protocols.random import Random

SIX = SequenceSpace((2, 2, 2))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_registered_protocol_keeps_the_contract(name) -> None:
    check_protocol(PROTOCOLS[name])


@pytest.mark.parametrize("name", PROTOCOLS)
def test_calibration_keys_were_measured(name) -> None:
    key = PROTOCOLS[name].calibration
    assert key is None or key in calibration().figures["0.9"]["mean"]


class Broken(Protocol):
    """Three random orders, unless a part of it is replaced."""

    name = "broken"
    summary = "for tests"
    constructed = ()

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        rng = request.rng()
        for index in range(request.budget):
            order = self.order(rng.permutation(request.space.classes))
            yield LabelledSequence(
                f"own-{index}", ClassSequence.from_order(order, request.space.sizes)
            )

    def order(self, permutation: np.ndarray) -> np.ndarray:
        return permutation


class Same(Broken):
    """Always the same orders: no random draw, whatever it says."""

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        for index, sequence in zip(range(request.budget), request.space.enumerate(), strict=False):
            yield LabelledSequence(f"own-{index}", sequence)


class Skewed(Broken):
    def order(self, permutation: np.ndarray) -> np.ndarray:
        return np.array([*permutation[permutation != 0], 0])


class Mirrored(Broken):
    """The second order is the first one backwards: each is uniform, both are not independent."""

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        first, second, *others = super().choose(request)
        order = [class_ for task in first.sequence.tasks[::-1] for class_ in task]
        mirrored = ClassSequence.from_order(order, request.space.sizes)
        yield from (first, LabelledSequence(second.label, mirrored), *others)


class Restless(Broken):
    draws = 0

    def order(self, permutation: np.ndarray) -> np.ndarray:
        self.draws += 1
        return np.random.default_rng(self.draws).permutation(len(permutation))


class Short(Broken):
    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        return iter(list(super().choose(request))[1:])


class OneLabel(Broken):
    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        return (LabelledSequence("own", run.sequence) for run in super().choose(request))


class Unsteady(Broken):
    """Says that its sequences are constructed, but draws others for each seed."""

    constructed = None


class Absent(Broken):
    constructed = ("hard",)


class Nameless(Broken):
    summary = ""


def test_a_sound_protocol_passes() -> None:
    check_protocol(Broken())


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (Same, "random"), (Skewed, "random"), (Mirrored, "independent"), (Restless, "sequences"),
        (Short, "sequences"), (OneLabel, "budget"), (Unsteady, "constructed"),
        (Absent, "constructed"), (Nameless, "description"),
    ],
)  # fmt: skip
def test_the_contract_finds_what_is_wrong(kind, check) -> None:
    with pytest.raises(AssertionError, match="broken"):
        PROTOCOL_CHECKS[check](kind())


def test_a_draw_with_too_few_sequences_is_an_error_for_its_user() -> None:
    with pytest.raises(UsageError, match="'broken' must choose 3"):
        Short().draw(SIX)


@pytest.fixture
def fresh_registry(monkeypatch) -> None:
    monkeypatch.setattr(PROTOCOLS, "_entries", dict(PROTOCOLS.items()))


@pytest.mark.usefixtures("fresh_registry")
def test_a_registered_protocol_can_be_drawn_by_name_and_replaced() -> None:
    register_protocol(Broken())
    assert len(edgecil.protocol("Broken", SIX, budget=4)) == 4
    assert find_protocol("broken").random
    register_protocol(Same())
    assert isinstance(PROTOCOLS["broken"], Same)
    with pytest.raises(UsageError, match="Got"):
        register_protocol(Broken)


class Point:
    """An entry point of an installed package."""

    def __init__(self, name: str, made: object) -> None:
        self.name, self.value, self._made = name, "package:attribute", made

    def load(self) -> object:
        if isinstance(self._made, Exception):
            raise self._made
        return self._made


@pytest.mark.usefixtures("fresh_registry")
def test_installed_packages_add_protocols(monkeypatch) -> None:
    points = [
        Point("broken", Broken),
        Point("drawn", Random("drawn", "random orders")),
        Point("other", Broken()),
        Point("lost", ImportError("no module")),
        Point("random", Broken()),
    ]
    monkeypatch.setattr("edgecil.registry.installed", lambda group: {it.name: it for it in points})
    monkeypatch.setattr(PROTOCOLS, "_plugins", ("edgecil.protocols", registered._check))
    before = PROTOCOLS["random"]
    with pytest.warns(edgecil.errors.EdgecilWarning) as warned:
        assert {"broken", "drawn"} <= set(PROTOCOLS)
    assert [str(one.message).split("'")[1] for one in warned] == ["other", "lost"]
    assert PROTOCOLS["random"] is before
    assert "other" not in PROTOCOLS


def test_names_that_are_not_registered_are_unknown() -> None:
    own = find_protocol("my orders")
    assert (own.role("hard"), own.role("a"), own.role("median")) == (
        "constructed",
        "unknown",
        "unknown",
    )
    assert (own.random, own.unknown, own.calibration) == (False, True, None)
    assert not find_protocol("repeats").unknown
    assert find_protocol("next").random
    with pytest.raises(UsageError, match="'my orders'"):
        own.draw(SIX)


def test_extremes_are_constructed_and_what_lies_between_is_random() -> None:
    for name in ("edge", "optimal"):
        roles = [PROTOCOLS[name].role(label) for label in ("hard", "median", "random-2", "easy")]
        assert roles == ["constructed", "random", "random", "constructed"]
    assert {PROTOCOLS["enumerate"].role(label) for label in ("all-1", "all-90")} == {"constructed"}
    assert PROTOCOLS["latin"].role("latin-1") == "random"
    assert [name for name in ("random", "latin", "edge") if PROTOCOLS[name].independent] == [
        "random"
    ]


def test_protocols_may_have_budgets_of_their_own() -> None:
    assert parse_protocols("Random:7, latin") == {"random": 7, "latin": None}
    assert parse_protocols(["mine: a", "random"], user_sequences=["mine: a"]) == {
        "mine: a": None,
        "random": None,
    }
    drawn = draw_protocols(parse_protocols("random:7,latin,enumerate"), SIX, budget=4)
    assert {name: len(runs) for name, runs in drawn.items()} == {
        "random": 7,
        "latin": 4,
        "enumerate": 90,
    }
    for text in ("random:", "random:few", "random:-1", "random:²"):
        with pytest.raises(UsageError, match="random"):
            parse_protocols(text)


def test_no_protocols_name_stands_in_a_condition() -> None:
    """What treats protocols differently asks the object, so that a new one works everywhere."""
    root = Path(edgecil.__file__).parent
    conditions = {
        (module, name)
        for path in sorted(root.rglob("*.py"))
        if (module := path.relative_to(root).as_posix())
        and not module.startswith("sequences/protocols/")
        for name in _names_in_conditions(ast.parse(path.read_text()))
    }
    assert conditions == set()


def _names_in_conditions(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.match_case):
            parts = [node.pattern]
        elif isinstance(node, ast.Subscript):
            parts = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            parts = list(node.args[:1]) if node.func.attr in ("get", "pop") else []
        for part in parts:
            yield from (
                one.value
                for one in ast.walk(part)
                if isinstance(one, ast.Constant)
                and isinstance(one.value, str)
                and one.value in PROTOCOLS
            )
