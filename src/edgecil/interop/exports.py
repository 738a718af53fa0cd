"""Hand class orders to other tools in files that run as they are, and bring the results back.

PyCIL and PILOT follow the attribute `class_order` of their data class and ignore a key of that name
in a config; Mammoth has an array from original class to new label that its own option does not
apply. So each tool gets a launcher that sets the order and checks that it was applied.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Any, Literal, TypeAlias

from edgecil.errors import DataError, UsageError, warn
from edgecil.experiments.chosen_similarity import SIMILARITY_FILE
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.experiment_files import writing
from edgecil.experiments.plan import Node
from edgecil.experiments.results import NodeResult, WholeRun
from edgecil.interop import mammoth_driver, toolbox_driver
from edgecil.interop.asked_orders import Orders, choose_orders, short_labels
from edgecil.interop.exchange_files import own_order, read_result, write_order
from edgecil.interop.external import ExternalPlan
from edgecil.interop.toolbox import check_checkout, find_interpreter, plan_toolbox, read_settings
from edgecil.io.files import read_json
from edgecil.options import checked
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity import SimilaritySource, save_similarity

Tool: TypeAlias = Literal["pycil", "pilot", "mammoth", "avalanche", "continuum"]
MANIFEST = "export.json"
_LIBRARIES = ("avalanche", "continuum")  # their orders are Python modules
_NETWORKS = {"pycil": "convs", "pilot": "backbone"}  # folders that only one of them has
_TEMPLATES = Path(__file__).parent
_VARIABLE = r"\$(run|CHECKOUT)\b"


@dataclass(frozen=True)
class Exported:
    """Files that make a tool train class orders.

    Attributes:
        tool: its name.
        folder: where the files are.
        runs: names of the runs, each with an order and a training seed.
        run_all: the command that trains all of them; it resumes.
        bring_back: the command that makes an experiment of the results.
        method: the learner's name.
        dataset: its name.
        orders: the protocols with the labels of their orders.
        notes: what constructed orders come from, and what to edit on another machine.
    """

    tool: str
    folder: Path
    runs: tuple[str, ...]
    run_all: str
    bring_back: str
    method: str = ""
    dataset: str = ""
    orders: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        on = f" on {self.dataset}" if self.dataset else ""
        lines = [
            f"Wrote {len(self.runs)} runs of {self.method}{on} to {self.folder} ({self.orders}).",
            *self.notes,
            f"Train them: {self.run_all}",
            f"Then bring the results back: {self.bring_back}",
        ]
        return "\n".join(lines)


@checked
def export(
    tool: Tool,
    checkout: str | Path | None = None,
    *,
    out: str | Path,
    config: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    command: str | None = None,
    python: str | None = None,
    method: str | None = None,
    repeats: int = 1,
    overwrite: bool = False,
    similarity: SimilaritySource | Mapping[str, Any] | str | Path | None = None,
    orders: Orders | Mapping[str, Any] | None = None,
) -> Exported:
    """Write files that make a tool train class orders, one for each order and training seed.

    Args:
        tool: whose files to write.
        checkout: folder of PyCIL, PILOT or Mammoth; the other tools are libraries.
        out: a new folder for the files.
        config: one of PyCIL's or PILOT's own JSON files, which names the learner.
        set: changes to that file, by key.
        command: Mammoth's `python main.py --model derpp …`, or the program that trains with a
            library: it gets the file of an order and the path for its result.
        python: Python interpreter of the tool's environment; the current one by default. It
            stands at the top of `run.sh`, as does the checkout.
        method: name under which the results are stored; the learner's by default.
        repeats: number of trainings of each order, each with its own training seed.
        overwrite: replace the folder if it exists.
        similarity: where the similarity of the classes comes from.
        orders: which class orders to train. The dataset and the task sizes of PyCIL and PILOT are
            those of the config unless given.
    """
    folder = Path(out).absolute()
    if folder.exists() and any(folder.iterdir()):
        if not overwrite or not (folder / MANIFEST).exists():  # nothing of somebody else's
            way = ", or `overwrite` the export" if (folder / MANIFEST).exists() else ""
            raise UsageError(f"{out} is not empty; give another `out`{way}.")
        shutil.rmtree(folder)
    asked, source = Orders.from_value(orders), SimilaritySource.from_value(similarity)
    if tool in ("pycil", "pilot"):
        root = check_checkout(checkout, tool)
        for other, part in _NETWORKS.items():
            if (root / part).is_dir() and not (root / _NETWORKS[tool]).is_dir():
                raise UsageError(f"{root} is not a checkout of {tool}, but of {other}.")
        if config is None:
            raise UsageError(
                f"`config` is required for {tool}: give one of the JSON files in {root / 'exps'}, "
                "which names the learner."
            )
        own = read_settings(config, set or {})
        plan = plan_toolbox(root, own, folder, asked, source, repeats=repeats)
        words = ["launch.py", "$CHECKOUT", "data", json.dumps(plan.identity["settings"])]
        words += ["orders/$run.json", "results/$run.json"]
        files = {"launch.py": Path(toolbox_driver.__file__).read_text("utf-8")}
    else:
        if command is None:
            what = "its python main.py …" if tool == "mammoth" else "the program that trains"
            raise UsageError(f"`command` is required for {tool}: give {what}.")
        options = shlex.split(command)
        if tool == "mammoth":  # without `python main.py`
            options = list(dropwhile(lambda word: not word.startswith("-"), options))
        model = re.search(r"--model[ =](\S+)", command)
        plan = ExternalPlan(
            method=method or (tool if model is None else model[1]),
            command=(),
            dataset=asked.dataset or "",
            orders=choose_orders(asked, source, out=folder),
            repeats=repeats,
            identity={"tool": tool, "command": command},
            cwd=folder,
        )
        if tool == "mammoth":
            parts = ("main.py", "datasets/utils/continual_dataset.py")
            root = check_checkout(checkout, tool, parts)
            words = ["launch.py", "$CHECKOUT", "orders/$run.json", "results/$run.json", *options]
            files = {"launch.py": Path(mammoth_driver.__file__).read_text("utf-8")}
        else:
            words, files = [*options, "orders/$run.py", "results/$run.json"], {}
    runs = _write_orders(folder, plan, tool)
    variables = (
        {} if tool in _LIBRARIES else {"PYTHON": find_interpreter(python), "CHECKOUT": str(root)}
    )
    quoted = (f'"{it}"' if re.search(_VARIABLE, it) else shlex.quote(it) for it in words)
    start = '"$PYTHON" ' if variables else ""
    settings = variables | {f"export {name}": it for name, it in plan.environment.items()}
    script = (_TEMPLATES / "run_script.txt").read_text("utf-8")
    files["run.sh"] = script.format(
        settings="".join(f"{name}={shlex.quote(it)}\n" for name, it in settings.items()),
        runs=shlex.join(runs),
        command=start + " ".join(quoted),
    )
    manifest = {
        "identity": plan.full_identity(),
        "method": plan.method,
        "sequences": {
            protocol: [
                {"label": it.label, "tasks": it.sequence.arranged, "source": it.source}
                for it in members
            ]
            for protocol, members in plan.orders.sequences.items()
        },
        "runs": {
            name: {"seed": node.seed, "tasks": plan.sequence_of(node).arranged}
            for name, node in runs.items()
        },
    }
    files[MANIFEST] = json.dumps(manifest)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    if plan.orders.similarity is not None:
        save_similarity(plan.orders.similarity, folder / SIMILARITY_FILE)
    back = f"edgecil import-logs {shlex.quote(str(out))} --out {shlex.quote(str(out))}-results"
    edits = f"On another machine, edit {' and '.join(variables)} at the top of run.sh."
    return Exported(
        tool,
        Path(out),
        tuple(runs),
        f"sh {shlex.quote(f'{out}/run.sh')}",
        back,
        plan.method,
        plan.dataset,
        str(plan.orders),
        (*plan.orders.notes, *([edits] if variables else [])),
    )


def _write_orders(folder: Path, plan: ExternalPlan, tool: str) -> dict[str, Node]:
    """Write the order of every run, and return the runs by name."""
    labels: dict[ClassSequence, str] = {}
    for protocol, members in plan.orders.sequences.items():
        for labelled, label in zip(members, short_labels(members), strict=True):
            labels.setdefault(labelled.sequence, f"{protocol}-{label}")
    runs: dict[str, Node] = {}
    for name in ("orders", "results", "logs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for node in plan.nodes():
        sequence = plan.sequence_of(node)
        label = re.sub(r"[^\w.-]", "_", labels[sequence])
        run = f"{label}-{node.seed}"
        runs[run] = node
        path = folder / "orders" / f"{run}.json"
        write_order(path, sequence, plan.orders.ids, node.seed)
        if tool in _LIBRARIES:
            template = (_TEMPLATES / f"{tool}_order.txt").read_text("utf-8")
            path.with_suffix(".py").write_text(template.format(**read_json(path)), "utf-8")
    return runs


def import_results(folder: str | Path, *, out: str | Path, overwrite: bool = False) -> Experiment:
    """Make an experiment of the results of exported runs; runs without a result are named."""
    folder = Path(folder)
    manifest = read_json(folder / MANIFEST)
    ids = manifest["identity"]["class_ids"]
    finished: list[tuple[Node, NodeResult | WholeRun]] = []
    missing = []
    for name, run in manifest["runs"].items():
        sequence = ClassSequence(run["tasks"])
        result = folder / "results" / f"{name}.json"
        if result.exists():
            whole = read_result(result, len(sequence), order=own_order(sequence, ids))
            finished.append((Node(manifest["method"], run["seed"], sequence.tasks), whole))
        else:
            missing.append(name)
    if not finished:
        raise DataError(f"{folder} has no results yet; run sh {folder / 'run.sh'}.")
    if missing:
        warn(f"{len(missing)} of {len(manifest['runs'])} runs have no result: {missing[0]}, ….")
    with writing(out, overwrite=overwrite) as store:
        store.check_identity(manifest["identity"])
        for protocol, members in manifest["sequences"].items():
            labelled = [
                LabelledSequence(it["label"], ClassSequence(it["tasks"]), source=it.get("source"))
                for it in members
            ]
            store.add_sequences(protocol, labelled)
        store.record_all(finished)
        if (folder / SIMILARITY_FILE).exists() and not (Path(out) / SIMILARITY_FILE).exists():
            shutil.copy(folder / SIMILARITY_FILE, Path(out) / SIMILARITY_FILE)
    return Experiment.open(out)
