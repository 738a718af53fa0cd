"""What `--json` prints: one object for each verb, whatever the count of its parts.

`{"schema": "edgecil.<verb>/1", …}`; lists stay lists, and names that users give are keys only in
mappings of their own. `edgecil analyze --json` prints :class:`edgecil.Analysis` as it is saved.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from edgecil.engine.protocol_results import ProtocolResults
from edgecil.engine.status import Failure, ProtocolStatus
from edgecil.sequences import Agreement, Profile, ScoredSequence
from edgecil.theory import SpaceSummary


def _tag(name: str) -> str:
    """The schema of an answer: CompareSimilarities gives edgecil.compare-similarities/1."""
    return f"edgecil.{re.sub('(?<!^)(?=[A-Z])', '-', name).lower()}/1"


class Part(msgspec.Struct, forbid_unknown_fields=True):
    """A part of an answer."""


class Answer(Part, tag_field="schema", tag=_tag, kw_only=True):
    """The answer of one verb; `schema` comes first."""


class Entry(Part):
    """Something that needs files or packages, and whether they are on this machine."""

    name: str
    available: bool
    note: str


class Dataset(Part):
    """A dataset: how many classes, and whether its images are on this machine."""

    name: str
    classes: int
    images: bool
    note: str


class Datasets(Answer):
    """`edgecil datasets`."""

    datasets: list[Dataset]


class Encoders(Answer):
    """`edgecil encoders`."""

    encoders: list[Entry]


class Backbones(Answer):
    """`edgecil backbones`."""

    backbones: list[Entry]


class Method(Part):
    """A learner and its published settings."""

    name: str
    summary: str
    settings: dict[str, Any]


class Methods(Answer):
    """`edgecil methods`."""

    methods: list[Method]


class Described(Part):
    """Something with a name and one line about it."""

    name: str
    summary: str


class Generator(Part):
    """A way to make one sequence."""

    name: str
    goal: str
    summary: str


class Protocols(Answer):
    """`edgecil protocols`."""

    protocols: list[Described]
    generators: list[Generator]
    objectives: list[Described]


class Recipe(Part):
    """A bundled experiment file and its settings."""

    name: str
    summary: str
    settings: dict[str, Any]


class Recipes(Answer):
    """`edgecil recipes`."""

    recipes: list[Recipe]


class Pair(Part):
    """Two classes."""

    classes: tuple[str, str]
    similarity: float


class Similarity(Answer):
    """`edgecil similarity`: mean and standard deviation over all pairs, and the extreme ones."""

    classes: int
    source: dict[str, str]
    mean: float
    std: float
    out: str | None
    most_similar: list[Pair]
    least_similar: list[Pair]


class Captions(Answer):
    """`edgecil captions`: a caption for each class."""

    captions: dict[str, str]
    out: str


class Sequences(Answer):
    """`edgecil sequences`."""

    sequences: list[ScoredSequence]


class Exported(Answer):
    """`edgecil sequences --format`: the settings of another tool, by label."""

    format: str
    sequences: dict[str, dict[str, Any]]


class Score(Answer):
    """`edgecil score`."""

    profile: Profile


class Space(Answer):
    """`edgecil space`."""

    space: SpaceSummary


class CompareSimilarities(Answer):
    """`edgecil compare-similarities`: one entry per pair."""

    agreements: list[Agreement]


class Report(Answer):
    """The pages that were written, one per dataset."""

    pages: list[str]


class Failed(Part):
    """A task training that failed; `runs` are the sequences that need it."""

    method: str
    seed: int
    tasks: list[list[int]]
    error: str
    runs: list[str]

    @classmethod
    def of(cls, failure: Failure) -> Failed:
        """A failure without its traceback."""
        tasks = [list(task) for task in failure.tasks]
        return cls(failure.method, failure.seed, tasks, failure.error, list(failure.runs))


class ExperimentAnswer(Answer):
    """The results of an experiment, and how much of it this command trained."""

    directory: str
    trained: int
    reused: int
    results: list[ProtocolResults]
    failures: list[Failed]


class Run(ExperimentAnswer):
    """`edgecil run`; `trained` and `reused` count tasks."""


class External(ExperimentAnswer):
    """`edgecil external`; `trained` and `reused` count runs."""


class Toolbox(ExperimentAnswer):
    """`edgecil toolbox`; `trained` and `reused` count runs."""


class ImportLogs(ExperimentAnswer):
    """`edgecil import-logs`."""


class Status(Answer):
    """`edgecil status`."""

    directory: str
    complete: bool
    tasks: int
    parts: list[ProtocolStatus]
    failures: list[Failed]
