"""Digest what every learner, protocol and command answers, and compare two such digests.

    .venv/bin/python tools/golden.py write before.json --texts before
    .venv/bin/python tools/golden.py write after.json --texts after
    .venv/bin/python tools/golden.py compare before.json after.json

`write` digests the package of the interpreter that runs it: a changed source tree is measured by
the interpreter of its own environment. All learners train two small tasks, all protocols choose
orders, and about sixty commands run in a new folder. Digested are stored identities and results,
printed answers, sentences on stderr, exit codes and written files. Times, paths, versions and
memory are masked. `--texts` keeps the digested texts, so that `diff -r` shows what has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", COLUMNS="120", HF_HUB_OFFLINE="1", NO_COLOR="1")

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "tests" / "demo"

SIX_ROWS = """method,dataset,protocol,label,sequence,seed,accuracy
icarl,quickdraw,random,seed-0,0 1|2 3|4 5,0,61.2
icarl,quickdraw,random,seed-1,4 5|0 1|2 3,1,58.9
icarl,quickdraw,random,seed-2,2 5|1 4|0 3,2,64.0
ewc,quickdraw,random,seed-0,0 1|2 3|4 5,0,41.2
ewc,quickdraw,random,seed-1,4 5|0 1|2 3,1,48.9
ewc,quickdraw,random,seed-2,2 5|1 4|0 3,2,44.0
"""
WIDE = """method,order_1,order_2,order_3,order_4
icarl,61.2,58.9,64.0,60.1
ewc,41.2,48.9,44.0,45.5
"""
BAD = SIX_ROWS.replace("58.9", "many")
ORDERS = "[[[0, 1], [2, 3], [4, 5]], [[5, 0], [3, 1], [2, 4]]]"
PYCIL = {
    "prefix": "reproduce",
    "dataset": "cifar100",
    "memory_size": 2000,
    "memory_per_class": 20,
    "fixed_memory": False,
    "shuffle": True,
    "init_cls": 10,
    "increment": 10,
    "model_name": "icarl",
    "convnet_type": "resnet32",
    "device": ["0"],
    "seed": [1993],
}
PLUGIN = """
import torch


class NearestMean:
    def __init__(self, power: float = 1.0):
        self.power, self.means = power, {}

    def fit_task(self, inputs, labels, classes):
        rows = inputs.flatten(1).float()
        for label in classes:
            self.means[label] = rows[labels == label].mean(0)

    def predict(self, inputs):
        means = torch.stack(list(self.means.values()))
        distances = torch.cdist(inputs.flatten(1).float(), means)
        return torch.tensor(list(self.means))[distances.argmin(1)]

    def state_dict(self):
        return {"classes": list(self.means), "means": list(self.means.values())}

    def load_state_dict(self, state):
        self.means = dict(zip(state["classes"], state["means"]))
"""
LEARNERS = (
    "acil,aper,bic,coda-prompt,der,derpp,dualprompt,ease,er,ewc,fecam,finetune,foster,hide-prompt,"
    "icarl,joint,l2p,lucir,lwf,memo,mos,ranpac,simplecil,slca,tagfex,wa"
)
SIX = "quickdraw --classes 6 --tasks 3"
# They run in this order in one folder.
COMMANDS = f"""
run quickdraw --classes 4 --tasks 2 --epochs 1 --method {LEARNERS} --protocol random:1 \
--image-size 16 --workers 1 --out learners
run {SIX} --method simplecil --protocol random:5,probes,latin,random-legacy,edge,optimal --out \
six --json
run {SIX} --method simplecil --protocol random:7 --out six
run {SIX} --method simplecil,fecam --protocol enumerate --out all
run caltech101 --classes 10 --tasks 5 --method finetune --backbone mlp --budget 3 --repeats-on 2 \
--protocol random:4 --out repeats
run {SIX} --method plugin.py:NearestMean --sequences orders.json --out mine
run {SIX} --method simplecil --until "simplecil ± 30" --budget 5 --out until
run --config settings.toml
run {SIX} --method simplecil,fecam --out part-1 --shard 1/2
run {SIX} --method simplecil,fecam --out part-2 --shard 2/2
run {SIX} --method simplecil --tasks 4 --out six
run {SIX} --method icrl --out wrong
run {SIX} --method icarl --epochs many --out wrong
run {SIX} --method icarl
merge part-1 part-2 --out whole
search caltech101 --method finetune --backbone mlp --classes 6 --tasks 3 --goal worst --budget 6 \
--out worst
status six --full
status part-1 --json
check {SIX} --method icarl
check cub200 --root missing --method l2p --tasks 10 --protocol edge --out x
check recipe:classic-cub200-pretrained
check {SIX} --method ranpac,icarl --setup paper --protocol edge,random --json
analyze six
analyze all --json
analyze rows.csv
analyze rows.csv --metric last
analyze wide.csv
analyze bad.csv
analyze missing.csv
analyze {DEMO}/accuracies.csv
analyze {DEMO}/accuracies.csv --json
analyze six repeats rows.csv
compare rows.csv
compare rows.csv --json
compare {DEMO}/accuracies.csv
compare all
compare six whole
next rows.csv
next repeats --target 0.5 --out next.json
next {DEMO}/accuracies.csv --json
report rows.csv
report all --out all-report
report {DEMO}/accuracies.csv --out table-report
report repeats
export-runs six all --out exported.csv
analyze exported.csv
import-logs missing --out logs
external {SIX} --protocol random:2 --out external --command "{sys.executable} train.py \
{{order_file}} {{result_file}}"
export mammoth . cifar100 --tasks 10 --out mammoth --command "python main.py --model derpp \
--dataset seq-cifar100"
check pycil.json
check --config pycil.json --out x
list methods
list methods icarl --setup paper
list datasets
list protocols --json
list backbones
list encoders
list objectives
list recipes
list setups
similarity cifar100 --out cifar100.npz
similarity quickdraw --images pixels --classes 10 --json
features quickdraw --classes 3 --backbone vit-quickdraw --out features.npz
sequences cifar100 --tasks 10 --protocol edge,probes,latin,random,optimal,edge-released --json
sequences quickdraw --classes 8 --tasks 4 --protocol adversarial,maxcover,random-legacy,enumerate
sequences cub200 --base 100 --increment 20 --protocol edge,random
run {SIX} --method simplecil,fecam --protocol random,edge --budget 3 --out paper
paper tables paper --out tex
paper rank paper-rankings
paper space --classes 100 --tasks 10 --epsilon 0.02 --accuracy-range 0.1
paper score quickdraw --classes 6 --sequence order.json
lab orders --help
run --help
analyze --help
--help
unknown
"""
EXTERNAL = """
import json, sys
order = json.load(open(sys.argv[1]))
tasks = 3
rows = [[60.0 + 3 * row - column for column in range(row + 1)] for row in range(tasks)]
json.dump({"matrix": rows}, open(sys.argv[2], "w"))
"""
# By file suffix, what is digested as text; other files as bytes.
TEXTS = {".csv", ".html", ".json", ".md", ".tex", ".toml", ".txt", ".svg"}
SKIPPED = {"results.sqlite", "progress.json", "lock", "results.sqlite-wal", "results.sqlite-shm"}
MASKS = [
    (re.compile(r'"seconds": ?[\d.e+-]+'), '"seconds": S'),
    (re.compile(r'"peak_memory": ?\d+'), '"peak_memory": M'),
    (re.compile(r'"training_seconds": ?\{[^}]*\}'), '"training_seconds": {}'),
    (re.compile(r"\b\d+(\.\d+)? (s|seconds?|minutes?|min|h|hours?|ms)\b"), "T"),
    (re.compile(r"\b\d[\d,.]* (bytes|kB|MB|GB)\b"), "BYTES"),
    (re.compile(r"\b\d{4}-\d\d-\d\d([T ][\d:.+Z-]+)?"), "DATE"),
    (re.compile(r"<(dc:date|cc:title|dc:title)>.*?</\1>", re.DOTALL), ""),
]


def mask(text: str, folder: Path) -> str:
    """Return a text without what differs between two runs of the same code."""
    text = text.replace(str(folder), "FOLDER").replace(str(ROOT), "ROOT")
    text = text.replace(sys.executable, "PYTHON")
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text


def run_command(words: list[str], out: Path, err: Path) -> int:
    """Run a command in a process of its own, which starts with libraries but without edgecil."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    code = 99
    try:
        for path, number in ((out, 1), (err, 2)):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, number)
        from edgecil.cli.main import main

        try:
            code = main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def stored_text(database: Path) -> str:
    """Return the identity, orders, results and configurations of an experiment as text."""
    lines = []
    with closing(sqlite3.connect(database)) as connection:
        for name, value in connection.execute("SELECT name, value FROM identity ORDER BY name"):
            if name not in ("edgecil", "torch", "cpu", "kernels", "processor"):
                lines.append(f"identity {name}: {value}")
        for row in connection.execute("SELECT * FROM sequences ORDER BY protocol, label"):
            lines.append(f"order {row[:3]}")
        nodes = (
            "SELECT method, seed, prefix, result, error FROM nodes ORDER BY method, seed, prefix"
        )
        for row in connection.execute(nodes):
            lines.append(f"node {row}")
        for (config,) in connection.execute("SELECT config FROM configs ORDER BY config"):
            lines.append(f"config {config}")
    return "\n".join(lines)


def folder_texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what every written file has."""
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.name == "results.sqlite":
            yield f"stored/{name}", stored_text(path)
        elif path.is_file() and path.name not in SKIPPED and "/shared/" not in f"/{name}":
            content = path.read_bytes()
            if path.suffix in TEXTS:
                yield f"file/{name}", content.decode("utf-8", "replace")
            elif path.suffix not in (".png", ".pdf", ".npz", ".safetensors"):
                yield f"file/{name}", hashlib.sha256(content).hexdigest()
            else:  # some carry times
                yield f"file/{name}", "exists"


def prepare_folder(folder: Path) -> None:
    """Write the files that the commands read."""
    (folder / "rows.csv").write_text(SIX_ROWS)
    (folder / "wide.csv").write_text(WIDE)
    (folder / "bad.csv").write_text(BAD)
    (folder / "orders.json").write_text(ORDERS)
    (folder / "order.json").write_text("[[0, 1], [2, 3], [4, 5]]")
    (folder / "plugin.py").write_text(PLUGIN)
    (folder / "train.py").write_text(EXTERNAL)
    (folder / "pycil.json").write_text(json.dumps(PYCIL))
    (folder / "settings.toml").write_text(
        'dataset = "quickdraw"\ntasks = 3\nmethod = ["simplecil"]\nout = "toml"\n'
        "[data]\nclasses = 6\n"
    )


def measure(only: str = "") -> dict[str, str]:
    """Return the masked texts of all answers and files, by name."""
    import matplotlib.figure  # noqa: F401
    import pandas  # noqa: F401
    import scipy.stats  # noqa: F401
    import torch  # noqa: F401

    texts = {}
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        folder = Path(name).resolve()
        prepare_folder(folder)
        os.chdir(folder)
        with tempfile.TemporaryDirectory(prefix="golden-") as printed:
            out, err = Path(printed, "out"), Path(printed, "err")
            lines = [line for line in COMMANDS.strip().splitlines() if re.search(only, line)]
            for number, line in enumerate(lines):
                words = shlex.split(line)
                if words[0] in ("run", "search") and "--help" not in words:
                    words.append("--no-progress")
                code = run_command(words, out, err)
                answer = f"$ {line}\nexit {code}\n{out.read_text()}\n--\n{err.read_text()}"
                texts[f"command/{number:02d}-{words[0]}"] = mask(answer, folder)
        texts.update((name, mask(text, folder)) for name, text in folder_texts(folder))
        os.chdir(ROOT)
    return texts


def compare(first: Path, second: Path) -> int:
    """Print what differs between two files of digests; return the exit code."""
    before, after = json.loads(first.read_text()), json.loads(second.read_text())
    names = sorted(before.keys() | after.keys())
    different = [name for name in names if before.get(name) != after.get(name)]
    for name in different:
        absent = "only in the first" if name not in after else "only in the second"
        print(f"{name}: {'differs' if name in before and name in after else absent}")
    print(f"{len(names)} digests, {len(different)} different")
    return 1 if different else 0


def main() -> int:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    writing = verbs.add_parser("write")
    writing.add_argument("path", type=Path)
    writing.add_argument("--texts", type=Path, help="folder for the digested texts")
    writing.add_argument("--only", default="", help="regular expression that a command must match")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("paths", type=Path, nargs=2)
    options = parser.parse_args()
    if options.verb == "compare":
        return compare(*options.paths)
    path = options.path.absolute()
    kept = None if options.texts is None else options.texts.absolute()
    texts = measure(options.only)
    digests = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}
    path.write_text(json.dumps(digests, indent=0, sort_keys=True) + "\n")
    if kept is not None:
        for name, text in texts.items():
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            (kept / name).write_text(text)
    print(f"{len(digests)} digests in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
