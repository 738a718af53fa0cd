"""Mammoth's `logs.pyd`."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables

RUN = (
    "{'dataset': 'seq-cifar10', 'model': 'derpp', 'seed': 3, 'buffer_size': 200, "
    "'notes': 'f(x), np.float64(1), nan', "
    "'device': device(type='cuda', index=0), 'lr_milestones': [35, 45], "
    "'accmean_task1': np.float64(90.0), 'accmean_task2': 60.5, 'accuracy_1_task1': 90.0, "
    "'accuracy_1_task2': 40.0, 'accuracy_2_task2': np.float64(81.0), "
    "'cpu_memory_usage': [1.0, 2.0], 'forgetting': nan}"
)


def tables_of(folder, text: str):
    path = folder / "class-il" / "seq-cifar10" / "logs.pyd"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return read_tables(path)


def test_each_line_is_a_run(tmp_path) -> None:
    first, second = tables_of(tmp_path, f"{RUN}\n{RUN.replace(': 3', ': 4')}\n")
    assert first.header == ("after task", "task", "accuracy", "mean accuracy of tasks")
    assert first.rows == ((0, 0, 90.0, 90.0), (1, 0, 40.0, 60.5), (1, 1, 81.0, 60.5))
    assert (first.place, second.place) == ("run 1", "run 2")
    assert (first.facts["seed"], second.facts["seed"]) == (3, 4)
    facts = [first.facts[name] for name in ("method", "dataset", "scenario", "unit")]
    assert facts == ["derpp", "seq-cifar10", "class-incremental", "%"]
    assert first.facts["device"] == "type='cuda', index=0"
    assert first.facts["lr_milestones"] == "35 45"
    assert first.facts["notes"] == "f(x), np.float64(1), nan"
    assert "forgetting" not in first.facts
    assert "cpu_memory_usage" not in first.facts


def test_means_alone_are_a_curve(tmp_path) -> None:
    text = "{'model': 'er', 'accmean_task1': 90.0, 'accmean_task2': 60.5}"
    (table,) = tables_of(tmp_path, text)
    assert table.header == ("after task", "mean accuracy of tasks")
    assert table.rows == ((0, 90.0), (1, 60.5))


@pytest.mark.parametrize(
    "value",
    [
        "__import__('os').system('true')",
        "(lambda: 1)()",
        "[" * 50_000,
        "open('/etc/passwd').read()",
    ],
)
def test_nothing_is_executed(tmp_path, value) -> None:
    text = f"{{'accmean_task1': 90.0, 'model': {value}}}"
    with pytest.raises(DataError, match="no dictionary or list"):
        tables_of(tmp_path, text)
