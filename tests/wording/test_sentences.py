"""Claims in sentences."""

from __future__ import annotations

from dataclasses import replace

from edgecil.analysis.claims import make_claims
from edgecil.wording.sentences import describe_claims
from tests.analysis.tables import drawn_table, noisy


def test_a_probe_outside_the_interval_of_a_new_run_is_said_beside_it() -> None:
    table = drawn_table({"m": noisy(0, std=0.5)}, 5)
    claims = make_claims(table, "m")
    low, high = claims.next_run.interval
    inside, outside = (low + high) / 2.0, high + 7.0
    probes = {"when spread": inside, "when grouped": outside}
    sentence = describe_claims(replace(claims, probes=probes), "m")
    assert f"{high:.1f} (95 %), but not when grouped ({outside:.1f}); the" in sentence
    assert sentence.endswith(f"; {inside:.1f} when spread.")
