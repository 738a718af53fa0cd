"""Garbage is collected as before once the work is done, also after an error."""

from __future__ import annotations

import gc

import pytest

from edgecil.io.garbage import no_collection, only_new_objects


def state() -> tuple[bool, bool]:
    return gc.isenabled(), gc.get_freeze_count() > 0


@pytest.mark.parametrize(
    ("context", "inside"), [(no_collection, (False, False)), (only_new_objects, (True, True))]
)
def test_collections_are_as_before_after_an_error(context, inside) -> None:
    seen = []

    def fail() -> None:
        with context():
            seen.append(state())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (seen, state()) == ([inside], (True, False))


def test_what_the_calling_program_has_chosen_stays() -> None:
    gc.disable()
    gc.freeze()
    try:
        with no_collection(), only_new_objects():
            pass
        assert state() == (False, True)
    finally:
        gc.unfreeze()
        gc.enable()
