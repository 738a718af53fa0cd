"""The types of what `--json` prints.

`{"schema": "edgecil.<verb>/1", …}`: lists stay lists, and names that users give are keys only in
mappings of their own. Most answers are result classes of the API; the others are declared here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from edgecil import catalogue
from edgecil.engine.protocol_results import ExperimentResults
from edgecil.engine.status import Status
from edgecil.estimation import analysis
from edgecil.estimation.compare import MethodComparison
from edgecil.estimation.next_runs import NextRuns
from edgecil.interop.exports import ExportedSequences
from edgecil.lab._leaderboard import Leaderboard
from edgecil.paper import SpaceSummary
from edgecil.paper.published import PublishedRanking
from edgecil.search.result import SearchSummary
from edgecil.sequences import Agreement, Profile
from edgecil.similarity.summary import SimilaritySummary

_MEMBERS: dict[str, dict[str, Any]] = {
    "datasets": {"datasets": list[catalogue.DatasetEntry]},
    "encoders": {"encoders": list[catalogue.AvailableEntry]},
    "backbones": {"backbones": list[catalogue.AvailableEntry]},
    "methods": {"methods": list[catalogue.LearnerEntry]},
    "protocols": {
        "protocols": list[catalogue.Entry],
        "generators": list[catalogue.GeneratorEntry],
        "objectives": list[catalogue.Entry],
    },
    "recipes": {"recipes": list[catalogue.ConfiguredEntry], "toml": str | None},
    "captions": {"captions": dict[str, str], "out": str},
    "compare-similarities": {"agreements": list[Agreement]},
    "status": {**get_type_hints(Status), "complete": bool},
    "report": {"pages": list[Path]},
    "next": {"datasets": list[NextRuns], "out": str | None},
    "export-runs": {"out": Path},
    "rank": {"rankings": list[PublishedRanking]},
    "paper-tables": {"tables": dict[str, str]},
}

TYPES: dict[str, Any] = {
    **{verb: msgspec.defstruct(verb, members.items()) for verb, members in _MEMBERS.items()},
    "similarity": SimilaritySummary,
    "sequences": ExportedSequences,
    "score": Profile,
    "space": SpaceSummary,
    **dict.fromkeys(("run", "merge", "external", "toolbox", "import-logs"), ExperimentResults),
    "analyze": analysis.Analysis,
    "search": SearchSummary,
    "leaderboard": Leaderboard,
    "compare": MethodComparison,
}
