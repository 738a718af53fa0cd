"""Hostile files of every form: nothing is executed, sizes are limited, names stay names."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import edgecil
from edgecil.errors import DataError, EdgecilError

CALL = "__import__('pathlib').Path('executed').touch()"
NAME = "<script>alert('x')</script>\\input{/etc/passwd}$(touch executed)"


class Touches:
    """Creates a file when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (_touch, ("executed",))


def _touch(name: str) -> None:
    Path(name).touch()


def _archive(**members: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, member in members.items():
            archive.writestr(f"{name}.npy", member)
    return content.getvalue()


def _array(value: object) -> bytes:
    content = io.BytesIO()
    np.save(content, np.asarray(value, dtype=object), allow_pickle=True)
    return content.getvalue()


def _trainer(message: str) -> str:
    return f"2024 [trainer.py] => {message}\n"


PYCIL = _trainer("model_name: icarl") + _trainer("seed: 1")
ENTITIES = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><table><tr><td>&c;</table>'
CONTENTS: dict[str, str | bytes] = {
    "results.pkl": pickle.dumps(Touches()),
    "pickled.csv": pickle.dumps(Touches()),
    "objects.npy": _array([Touches()]),
    "objects.npz": _archive(accuracy=_array([Touches()])),
    "deep.json": "[" * 100_000,
    "deep_objects.json": '{"a":' * 5000 + "1" + "}" * 5000,
    "nan.json": '{"method": "er", "accuracy": NaN}',
    "deep.jsonl": '{"a": ' + "[" * 5000 + "\n{}\n",
    "call.csv": f'method,accuracy\ner,"[{CALL}]"\n',
    "formula.csv": "method,accuracy\n=cmd|' /C calc'!A0,80.5\n",
    "logs.pyd": f"{{'model': 'er', 'accmean_task1': {CALL}}}\n",
    "nested/logs.pyd": "{'model': " + "(" * 10_000 + "}\n",
    "trainer.log": PYCIL + _trainer(f"CNN: {CALL}") + _trainer("CNN top1 curve: [" + "9," * 10**5),
    "libcontinual.log": f"{{'classifier': {CALL}}}\n====Task 0 Start!====\n * Average Acc : x\n",
    "args-1.txt": '{"approach" : "' + "x" * 100_000 + '"}',
    "acc_tag-1.txt": "0.9\t" * 50_000 + "\n",
    "eval_results.csv": "eval_exp,training_exp,eval_accuracy\n999999999999,0,0.5\n",
    "console.txt": "Accuracy on task 99999999999999: 80%\n" * 10,
    "entities.html": ENTITIES,
    "spans.html": '<table><tr><td colspan="99999999">x<td rowspan="99999999">1</table>',
    "backticks.md": "|" * 50_000 + "\n" + "|-" * 50_000,
    "braces.tex": "\\begin{tabular}{l}" + "{" * 50_000 + "\\end{tabular}",
    "input.tex": "\\begin{tabular}{lr}\\input{/etc/passwd} & 1 \\\\ x & 2 \\\\\\end{tabular}",
    "wide.tsv": "\t" * 200_000 + "\n",
    "controls.csv": b"method,accuracy\n\x00\x01\x02,80.5\n",
    "book.xlsx": b"PK\x03\x04" + b"\x00" * 100,
    "events.out.tfevents.1": b"\xff" * 1000,
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_hostile_file_executes_nothing_and_is_read_or_refused_in_one_sentence(
    name, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "files" / name
    path.parent.mkdir(parents=True)
    content = CONTENTS[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    sentence = ""
    count = 0
    try:
        reading = edgecil.read(path)
        count = sum(map(len, reading.runs)) + len(reading.published)
    except EdgecilError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert len(sentence) < 1000
    assert count < 1000
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("name", "template"),
    [
        ("a.csv", '"method",seed,accuracy\n"{name}",0,80.5\n"{name}",1,81.5\n"{name}",2,82\n'),
        ("a.tsv", "method\tseed\taccuracy\n{name}\t0\t80.5\n{name}\t1\t81.5\n{name}\t2\t82\n"),
    ],
)
def test_names_are_names_in_the_reading_and_escaped_in_notebooks(name, template, tmp_path) -> None:
    path = tmp_path / name
    path.write_text(template.replace("{name}", NAME), encoding="utf-8")
    reading = edgecil.read(path)
    assert reading.methods == (NAME,)
    assert "<script>" not in reading._repr_html_()


def test_names_in_json_are_escaped_too(tmp_path) -> None:
    path = tmp_path / "<b>a.json"
    records = [{"method": NAME, "seed": seed, "accuracy": 80.0 + seed} for seed in range(3)]
    path.write_text(json.dumps(records), encoding="utf-8")
    reading = edgecil.read(path)
    assert reading.methods == (NAME,)
    assert "<b>" not in reading._repr_html_()


def test_limits_are_checked_before_a_file_is_read(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("method,accuracy\n" + "er,80.5\n" * 100, encoding="utf-8")
    monkeypatch.setenv("EDGECIL_MAX_TEXT_BYTES", "200")
    with pytest.raises(DataError, match="more than the limit of 200"):
        edgecil.read(path)
    monkeypatch.setenv("EDGECIL_MAX_TEXT_BYTES", "20000")
    monkeypatch.setenv("EDGECIL_MAX_CELLS", "50")
    with pytest.raises(DataError, match="more than the limit of 50"):
        edgecil.read(path)
