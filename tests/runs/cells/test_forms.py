"""The forms together: each file has one, folders of any mix, and forms of other packages."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from edgecil.errors import DataError
from edgecil.registry import installed
from edgecil.runs.cells.file_text import read_head
from edgecil.runs.cells.forms import FORMS, read_files, read_tables

from .test_excel_sheets import ROWS, write_book

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "what-it-reads.md"
METRIC = "Top1_Acc_Exp/eval_phase/test_stream/Exp000"

SAMPLES = {
    "pycil_log": (
        "a.log",
        "2024 [trainer.py] => seed: 1\n2024 [trainer.py] => CNN: {'total': 9}\n",
    ),
    "facil_results": ("acc_tag-1.txt", "0.9\t0.0\n0.4\t0.8\n"),
    "mammoth_log": ("logs.pyd", "{'model': 'er', 'accmean_task1': 90.0}\n"),
    "avalanche_csv": ("eval_results.csv", "eval_exp,training_exp,eval_accuracy\n0,0,0.9\n"),
    "avalanche_log": (
        "log.txt",
        "-- >> Start of training phase << --\n-- Starting training on experience 0 --\n"
        f"\t{METRIC} = 0.9\n",
    ),
    "libcontinual_log": (
        "b.log",
        "====Task 0 Start!====\n====Test 1/1 of Task 0!====\n * Average Acc : 90.5\n",
    ),
    "online_cl_log": ("c.log", "-----------run 0 training batch 0-------------\n[0.9 0.0]\n"),
    "continuum_log": ("d.json", '{"task": 0, "acc": 90.5, "acc_per_task": [90.5]}\n'),
    "mlflow_run": ("mlruns/0/1/metrics/acc", "1700000000000 0.9 0\n"),
    "wandb_run": ("run-1/files/wandb-summary.json", '{"acc": 0.9}'),
    "json_values": ("a.json", '[{"method": "er", "accuracy": 0.9}]'),
    "json_lines": ("a.jsonl", '{"method": "er"}\n{"method": "der"}\n'),
    "html_tables": ("a.html", "<table><tr><th>method<th>acc<tr><td>er<td>0.9</table>"),
    "markdown_tables": ("a.md", "| method | acc |\n|---|---|\n| er | 0.9 |\n"),
    "latex_tables": ("a.tex", r"\begin{tabular}{lr}method & acc \\ er & 0.9 \\\end{tabular}"),
    "delimited_text": ("a.csv", "method,acc\ner,0.9\n"),
    "printed_tables": ("a.txt", "method  acc\n------  ---\ner      0.9\n"),
    "console_log": ("a.out", "Average accuracy: 90.5%\n"),
}


def write_samples(folder: Path) -> dict[str, Path]:
    """Write a file of each form, and return the files by form."""
    files = {}
    for form, (name, text) in SAMPLES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        files[form] = path
    (folder / "mlruns" / "0" / "1" / "meta.yaml").write_text("run_id: 1\n")
    files["numpy_arrays"] = folder / "a.npy"
    np.save(files["numpy_arrays"], np.eye(2))
    files["excel_sheets"] = write_book(folder / "a.xlsx", {"a": ROWS})
    files["tensorboard_events"] = folder / "events.out.tfevents.1"
    value = b"\x0a\x03acc\x15\x00\x00\x00\x3f"
    summary = b"\x0a" + bytes([len(value)]) + value
    event = b"\x10\x00\x2a" + bytes([len(summary)]) + summary
    content = len(event).to_bytes(8, "little") + bytes(4) + event + bytes(4)
    files["tensorboard_events"].write_bytes(content)
    return files


def module_of(form: str):
    return import_module(f"edgecil.runs.cells.{form}")


def test_every_form_has_a_sample(tmp_path) -> None:
    names = {name for group in FORMS for name in group}
    assert set(write_samples(tmp_path)) == names


def test_no_two_forms_of_a_group_recognise_one_file(tmp_path) -> None:
    for form, path in write_samples(tmp_path).items():
        head = read_head(path)
        for group in FORMS:
            recognising = {name for name in group if module_of(name).recognises(path, head)}
            if form in group:
                assert recognising == {form}
                break
            assert recognising == set(), f"{form} is taken for {recognising}"


def test_a_folder_of_any_mix_is_read_and_the_rest_is_listed(tmp_path) -> None:
    files = write_samples(tmp_path)
    (tmp_path / "figure.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00")
    (tmp_path / "model.pt").write_bytes(b"PK\x03\x04" + bytes(100))
    (tmp_path / "empty.log").write_text("")
    (tmp_path / ".hidden.csv").write_text("method,acc\nx,1\n")
    result = read_files([tmp_path])
    sources = {table.source for table in result.tables}
    expected = {str(path) for path in files.values()}
    expected.remove(str(files["mlflow_run"]))
    expected.add(str(tmp_path / "mlruns" / "0" / "1"))
    assert sources == expected
    assert {path.name for path in result.left_out} == {"figure.png", "model.pt", "empty.log"}


def test_a_pickle_is_refused(tmp_path) -> None:
    path = tmp_path / "results.pkl"
    path.write_bytes(b"\x80\x04\x95\x1e\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix.")
    with pytest.raises(DataError, match="no form that is read here"):
        read_tables(path)


def test_the_page_has_a_row_for_each_form() -> None:
    if not PAGE.is_file():
        pytest.skip("docs/ is not part of the wheel")
    rows = {
        line.split("|")[1].strip() for line in PAGE.read_text("utf-8").splitlines() if "|" in line
    }
    delimited = set(module_of("delimited_text")._NAMES.values())
    others = {name for group in FORMS for name in group} - {"delimited_text"}
    assert delimited | {module_of(name).FORM for name in others} <= rows


def test_an_installed_package_adds_a_form_with_one_file(tmp_path, monkeypatch) -> None:
    if not PAGE.is_file():
        pytest.skip("docs/ is not part of the wheel")
    example = re.search(
        r'```python title="tally_form.py"\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL
    )
    assert example is not None
    site = tmp_path / "site"
    metadata = site / "tally-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tally\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[edgecil.forms]\ntally = tally_form\n")
    (site / "tally_form.py").write_text(example[1])
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr("edgecil.runs.cells.forms.installed", installed.__wrapped__)  # no cache
    path = tmp_path / "results.csv"
    path.write_text("tally\ner=80.5\nder=81.25\n")
    (table,) = read_tables(path)
    assert table.form == "tally"
    assert table.rows == (("er", "80.5"), ("der", "81.25"))
