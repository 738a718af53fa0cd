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
from collections.abc import Mapping, Sequence
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
from edgecil.interop.exchange_files import own_order, read_result, write_order
from edgecil.interop.external import ExternalPlan
from edgecil.interop.order_options import OrderOptions, choose_orders, short_labels
from edgecil.interop.toolbox import check_checkout, find_interpreter, plan_toolbox, read_settings
from edgecil.io.files import read_json
from edgecil.options import checked
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity import SimilaritySource, save_similarity

Tool: TypeAlias = Literal["pycil", "pilot", "mammoth", "avalanche", "continuum"]
MANIFEST = "export.json"
_LIBRARIES = ("avalanche", "continuum")  # orders for these are Python modules
_NETWORKS = {"pycil": "convs", "pilot": "backbone"}  # folders that only one tool has
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
    orders: OrderOptions | Mapping[str, Any] | None = None,
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
        orders: which class orders to train. By default the dataset and the task sizes of PyCIL and
            PILOT are taken from the config.
    """
    folder = Path(out).absolute()
    _empty_folder(folder, out, overwrite=overwrite)
    options = OrderOptions.from_value(orders)
    source = SimilaritySource.from_value(similarity)
    if tool in ("pycil", "pilot"):
        launch = _launch_toolbox(
            tool, checkout, config, set or {}, folder, options, source, repeats
        )
    else:
        launch = _launch_command(tool, checkout, command, method, folder, options, source, repeats)
    plan = launch.plan
    runs = _write_orders(folder, plan, tool)
    variables = {}
    if launch.checkout is not None:
        variables = {"PYTHON": find_interpreter(python), "CHECKOUT": str(launch.checkout)}
    files = {
        "run.sh": _run_script(launch, runs, variables),
        MANIFEST: json.dumps(_manifest(plan, runs)),
    }
    if launch.driver is not None:
        files["launch.py"] = Path(launch.driver).read_text("utf-8")
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    if plan.orders.similarity is not None:
        save_similarity(plan.orders.similarity, folder / SIMILARITY_FILE)
    notes = list(plan.orders.notes)
    if variables:
        notes.append(f"On another machine, edit {' and '.join(variables)} at the top of run.sh.")
    return Exported(
        tool,
        Path(out),
        tuple(runs),
        f"sh {shlex.quote(f'{out}/run.sh')}",
        f"edgecil import-logs {shlex.quote(str(out))} --out {shlex.quote(str(out))}-results",
        plan.method,
        plan.dataset,
        str(plan.orders),
        tuple(notes),
    )


def _empty_folder(folder: Path, out: str | Path, *, overwrite: bool) -> None:
    """Delete an earlier export on request; a folder with other files is an error."""
    if not folder.exists() or not any(folder.iterdir()):
        return
    is_export = (folder / MANIFEST).exists()
    if not overwrite or not is_export:
        way = ", or `overwrite` the export" if is_export else ""
        raise UsageError(f"{out} is not empty; give another `out`{way}.")
    shutil.rmtree(folder)


@dataclass(frozen=True)
class _Launch:
    """How a tool trains the runs of a plan.

    Attributes:
        plan: the runs.
        words: the command of a run, with `$run` and `$CHECKOUT` in it.
        checkout: folder of the tool; None for a library.
        driver: the program that starts the tool; None if the words do.
    """

    plan: ExternalPlan
    words: Sequence[str]
    checkout: Path | None = None
    driver: str | None = None


def _launch_toolbox(
    tool: str,
    checkout: str | Path | None,
    config: str | Path | None,
    changes: Mapping[str, Any],
    folder: Path,
    options: OrderOptions,
    source: SimilaritySource,
    repeats: int,
) -> _Launch:
    """Return how PyCIL or PILOT trains the orders."""
    root = check_checkout(checkout, tool)
    for other_tool, networks in _NETWORKS.items():
        if (root / networks).is_dir() and not (root / _NETWORKS[tool]).is_dir():
            raise UsageError(f"{root} is not a checkout of {tool}, but of {other_tool}.")
    if config is None:
        raise UsageError(
            f"`config` is required for {tool}: give one of the JSON files in {root / 'exps'}, "
            "which names the learner."
        )
    settings = read_settings(config, changes)
    plan = plan_toolbox(root, settings, folder, options, source, repeats=repeats)
    words = [
        *("launch.py", "$CHECKOUT", "data", json.dumps(plan.identity["settings"])),
        *("orders/$run.json", "results/$run.json"),
    ]
    return _Launch(plan, words, root, toolbox_driver.__file__)


def _launch_command(
    tool: str,
    checkout: str | Path | None,
    command: str | None,
    method: str | None,
    folder: Path,
    options: OrderOptions,
    source: SimilaritySource,
    repeats: int,
) -> _Launch:
    """Return how Mammoth, or a program that uses a library, trains the orders."""
    if command is None:
        what = "its python main.py …" if tool == "mammoth" else "the program that trains"
        raise UsageError(f"`command` is required for {tool}: give {what}.")
    words = shlex.split(command)
    model = re.search(r"--model[ =](\S+)", command)
    plan = ExternalPlan(
        method=method or (tool if model is None else model[1]),
        command=(),
        dataset=options.dataset or "",
        orders=choose_orders(options, source, out=folder),
        repeats=repeats,
        identity={"tool": tool, "command": command},
        cwd=folder,
    )
    if tool != "mammoth":
        return _Launch(plan, [*words, "orders/$run.py", "results/$run.json"])
    root = check_checkout(checkout, tool, ("main.py", "datasets/utils/continual_dataset.py"))
    arguments = dropwhile(lambda word: not word.startswith("-"), words)  # without python main.py
    words = ["launch.py", "$CHECKOUT", "orders/$run.json", "results/$run.json", *arguments]
    return _Launch(plan, words, root, mammoth_driver.__file__)


def _run_script(launch: _Launch, runs: Mapping[str, Node], variables: Mapping[str, str]) -> str:
    """Return a shell script that trains the runs; its variables stand at the top."""
    words = ['"$PYTHON"'] if variables else []
    for word in launch.words:
        has_variable = re.search(_VARIABLE, word) is not None
        words.append(f'"{word}"' if has_variable else shlex.quote(word))
    settings = dict(variables)
    for name, value in launch.plan.environment.items():
        settings[f"export {name}"] = value
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in settings.items()]
    template = (_TEMPLATES / "run_script.txt").read_text("utf-8")
    return template.format(settings="".join(lines), runs=shlex.join(runs), command=" ".join(words))


def _manifest(plan: ExternalPlan, runs: Mapping[str, Node]) -> dict[str, Any]:
    """Return what :func:`import_results` reads about exported runs."""
    sequences = {}
    for protocol, members in plan.orders.sequences.items():
        sequences[protocol] = [
            {
                "label": labelled.label,
                "tasks": labelled.sequence.arranged,
                "source": labelled.source,
            }
            for labelled in members
        ]
    return {
        "identity": plan.full_identity(),
        "method": plan.method,
        "sequences": sequences,
        "runs": {
            name: {"seed": node.seed, "tasks": plan.sequence_of(node).arranged}
            for name, node in runs.items()
        },
    }


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
            labelled = []
            for member in members:
                sequence = ClassSequence(member["tasks"])
                source = member.get("source")
                labelled.append(LabelledSequence(member["label"], sequence, source=source))
            store.add_sequences(protocol, labelled)
        store.record_all(finished)
        if (folder / SIMILARITY_FILE).exists() and not (Path(out) / SIMILARITY_FILE).exists():
            shutil.copy(folder / SIMILARITY_FILE, Path(out) / SIMILARITY_FILE)
    return Experiment.open(out)
