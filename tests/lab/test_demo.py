"""The numbers of the demo are those that were stored, up to rounding."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from edgecil.estimation import Analysis, analyze
from edgecil.io.json import to_plain
from edgecil.lab import Audit, audit
from edgecil.paper import normality

pytestmark = pytest.mark.slow

DEMO = Path(__file__).parents[1] / "demo"
STORED = json.loads((DEMO / "estimates.json").read_text(encoding="utf-8"))
METHODS = ("finetune", "icarl", "ease", "ranpac")


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze(DEMO / "accuracies.csv")


@pytest.fixture(scope="module")
def audited() -> Audit:
    return audit(DEMO / "accuracies.csv", draws=88)


@pytest.mark.parametrize("method", METHODS)
def test_every_number_of_a_method_is_the_stored_one(
    analysis: Analysis, audited: Audit, method: str
) -> None:
    differences = list(_differences(STORED[method], _as_stored(analysis, audited, method)))
    assert differences == []


def test_every_rank_is_the_stored_one(audited: Audit) -> None:
    (dataset,) = audited.datasets
    stored = dict(STORED["ranking"])
    assert to_plain(dataset.true_ranking) == stored.pop("truth")
    for protocol, by_estimator in stored.items():
        for estimator, ranks in by_estimator.items():
            ranking = dataset.rankings[protocol][estimator]
            assert ranking.error == ranks["error"]
            assert to_plain(ranking.ranking) == {
                name: ranks[name] for name in ("lower", "upper", "stability")
            }
            average = ranking.average
            assert average is not None
            assert {
                "draws": average.draws,
                "error": average.error,
                "faultless": average.correct_share,
            } == ranks["average"]


def test_every_comparison_is_the_stored_one(analysis: Analysis) -> None:
    assert list(_differences(STORED["comparisons"], _comparisons(analysis))) == []


def _comparisons(analysis: Analysis) -> Any:
    return to_plain(analysis.datasets[0].comparisons)


def _differences(stored: Any, given: Any, path: str = "") -> Iterator[str]:
    """Where a stored number differs from the given one; what was added since is ignored."""
    if isinstance(stored, dict):
        for key, value in stored.items():
            if key == "reason":  # prose, not a number
                continue
            if key in given:
                yield from _differences(value, given[key], f"{path}/{key}")
            else:
                yield f"{path}/{key} is missing"
    elif isinstance(stored, list) and len(stored) == len(given):
        for place, (one, other) in enumerate(zip(stored, given, strict=True)):
            yield from _differences(one, other, f"{path}/{place}")
    elif isinstance(stored, float) and isinstance(given, float):
        if not math.isclose(stored, given, rel_tol=1e-6, abs_tol=1e-9):
            yield f"{path}: {stored} is {given}"
    elif stored != given:
        yield f"{path}: {stored} is {given}"


def _as_stored(analysis: Analysis, audited: Audit, name: str) -> dict[str, Any]:
    """A method's numbers in the shape of the stored file."""
    method, truth = analysis[name], audited[name].truth
    assert truth is not None
    plain = {**to_plain(method), **to_plain(audited[name])}
    (tests,) = normality(DEMO / "accuracies.csv").values()
    return {
        "truth": {
            **{name: getattr(truth, name) for name in ("mean", "std", "min", "max", "kind")},
            "n": len(truth.sequences),
            "orders": str(truth.space_size),
        },
        "estimates": {
            protocol: {name: _estimate(answer) for name, answer in answers.items()}
            for protocol, answers in plain["estimates"].items()
        },
        "runs": method.runs,
        "averages": {
            protocol: {
                name: _renamed(average, missed="missed_range") for name, average in averages.items()
            }
            for protocol, averages in plain["averages"].items()
        },
        "correlation": {
            "predictor": method.predictor,
            **plain["correlations"]["adjacent"],
            "predictors": plain["correlations"],
        },
        "normality": to_plain(tests[name]),
        "samples": {
            protocol: [_renamed(point, n="budget") for point in points]
            for protocol, points in plain["by_budget"].items()
        },
        "captures": plain["outside_range"],
    }


def _estimate(answer: dict[str, Any]) -> dict[str, Any]:
    if answer["estimate"] is None:
        return {"runs": answer["runs"]}
    estimate, closeness = answer["estimate"], answer["closeness"]
    return {
        "mean": estimate["distribution"]["mean"],
        "std": estimate["distribution"]["std"],
        "runs": answer["runs"],
        "errors": {name: closeness[f"{name}_error"] for name in ("mean", "std", "min", "max")},
        "quantiles": answer["quantiles"],
        **{name: closeness[name] for name in ("jsd", "wasserstein")},
        **{name: estimate[name] for name in ("min", "max", "mean_interval", "std_interval")},
    }


def _renamed(values: dict[str, Any], **names: str) -> dict[str, Any]:
    """The values with old names beside the new ones; standard errors have the old names too."""
    renamed = {**values, **{old: values[new] for old, new in names.items()}}
    if "standard_errors" in renamed and renamed["standard_errors"] is not None:
        renamed["standard_errors"] = _renamed(renamed["standard_errors"], **names)
    return renamed
