"""How the accuracy of a class-incremental learner depends on the order of its classes.

>>> import edgecil
>>> similarity = edgecil.similarity(dataset="cifar100")
>>> space = edgecil.SequenceSpace.equal(100, 10)
>>> [run.label for run in edgecil.protocol("edge", space, similarity=similarity)]
['hard', 'median', 'easy']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecil.catalogue import (
        list_backbones,
        list_datasets,
        list_encoders,
        list_generators,
        list_methods,
        list_objectives,
        list_protocols,
        list_recipes,
    )
    from edgecil.classes import (
        ClassList,
        dataset_names,
        get_classes,
        read_classes,
        register_classes,
    )
    from edgecil.data import load_dataset
    from edgecil.engine import Experiment, ExperimentConfig, TrainingFailedError
    from edgecil.engine.merge import merge
    from edgecil.engine.plan_run import RunPlan, plan_run
    from edgecil.engine.run import run
    from edgecil.errors import EdgecilError
    from edgecil.estimation import (
        Analysis,
        Leaderboard,
        MethodComparison,
        NextRuns,
        TruthTable,
        truths,
    )
    from edgecil.estimation.analyze import analyze
    from edgecil.estimation.compare import compare
    from edgecil.estimation.leaderboard import leaderboard
    from edgecil.estimation.next_runs import next_runs
    from edgecil.estimation.published import PublishedRanking, rank
    from edgecil.estimation.sources import export_runs
    from edgecil.interop import (
        export,
        import_logs,
        read_toolbox_config,
        run_external,
        run_toolbox,
    )
    from edgecil.methods import Method, register_method
    from edgecil.recipes import read_recipe, recipe_names, recipe_text
    from edgecil.report import Report, write_report
    from edgecil.report.paper_tables import paper_tables
    from edgecil.search import SearchResult, search
    from edgecil.sequences import (
        ChosenSequences,
        ClassSequence,
        LabelledSequence,
        Objective,
        ScoredSequence,
        SequenceSpace,
        compare_similarities,
        find_optimum,
        profile,
        profile_file,
        protocol,
        read_sequence,
        score,
        sequences,
    )
    from edgecil.sequences.agreement import compare_files
    from edgecil.similarity import (
        Embeddings,
        SimilarityMatrix,
        choose_similarity,
        prototype_embeddings,
        read_similarity,
        save_similarity,
        similarity,
        text_similarity,
    )
    from edgecil.similarity.captioning import captions
    from edgecil.similarity.captions import save_captions
    from edgecil.theory import SpaceSummary, space

    __version__: str

_HOME = {
    "edgecil.catalogue": (
        "list_backbones",
        "list_datasets",
        "list_encoders",
        "list_generators",
        "list_methods",
        "list_objectives",
        "list_protocols",
        "list_recipes",
    ),
    "edgecil.classes": (
        "ClassList",
        "dataset_names",
        "get_classes",
        "read_classes",
        "register_classes",
    ),
    "edgecil.data": ("load_dataset",),
    "edgecil.engine": ("Experiment", "ExperimentConfig", "TrainingFailedError"),
    "edgecil.engine.merge": ("merge",),
    "edgecil.engine.plan_run": ("RunPlan", "plan_run"),
    "edgecil.engine.run": ("run",),
    "edgecil.errors": ("EdgecilError",),
    "edgecil.estimation": (
        "Analysis",
        "Leaderboard",
        "MethodComparison",
        "NextRuns",
        "TruthTable",
        "analyze",
        "leaderboard",
        "truths",
    ),
    "edgecil.estimation.compare": ("compare",),
    "edgecil.estimation.next_runs": ("next_runs",),
    "edgecil.estimation.published": ("PublishedRanking", "rank"),
    "edgecil.estimation.sources": ("export_runs",),
    "edgecil.interop": (
        "export",
        "import_logs",
        "read_toolbox_config",
        "run_external",
        "run_toolbox",
    ),
    "edgecil.methods": ("Method", "register_method"),
    "edgecil.recipes": ("read_recipe", "recipe_names", "recipe_text"),
    "edgecil.report": ("Report", "write_report"),
    "edgecil.report.paper_tables": ("paper_tables",),
    "edgecil.search": ("SearchResult", "search"),
    "edgecil.sequences": (
        "ChosenSequences",
        "ClassSequence",
        "LabelledSequence",
        "Objective",
        "SequenceSpace",
        "ScoredSequence",
        "compare_similarities",
        "find_optimum",
        "profile",
        "profile_file",
        "protocol",
        "read_sequence",
        "score",
        "sequences",
    ),
    "edgecil.sequences.agreement": ("compare_files",),
    "edgecil.theory": ("SpaceSummary", "space"),
    "edgecil.similarity": (
        "Embeddings",
        "SimilarityMatrix",
        "choose_similarity",
        "prototype_embeddings",
        "read_similarity",
        "save_similarity",
        "similarity",
        "text_similarity",
    ),
    "edgecil.similarity.captioning": ("captions",),
    "edgecil.similarity.captions": ("save_captions",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Analysis",
    "ChosenSequences",
    "ClassList",
    "ClassSequence",
    "EdgecilError",
    "Embeddings",
    "Experiment",
    "ExperimentConfig",
    "LabelledSequence",
    "Leaderboard",
    "Method",
    "MethodComparison",
    "NextRuns",
    "Objective",
    "PublishedRanking",
    "Report",
    "RunPlan",
    "ScoredSequence",
    "SearchResult",
    "SequenceSpace",
    "SimilarityMatrix",
    "SpaceSummary",
    "TrainingFailedError",
    "TruthTable",
    "analyze",
    "captions",
    "choose_similarity",
    "compare",
    "compare_files",
    "compare_similarities",
    "dataset_names",
    "export",
    "export_runs",
    "find_optimum",
    "get_classes",
    "import_logs",
    "leaderboard",
    "list_backbones",
    "list_datasets",
    "list_encoders",
    "list_generators",
    "list_methods",
    "list_objectives",
    "list_protocols",
    "list_recipes",
    "load_dataset",
    "merge",
    "next_runs",
    "paper_tables",
    "plan_run",
    "profile",
    "profile_file",
    "protocol",
    "prototype_embeddings",
    "rank",
    "read_classes",
    "read_recipe",
    "read_sequence",
    "read_similarity",
    "read_toolbox_config",
    "recipe_names",
    "recipe_text",
    "register_classes",
    "register_method",
    "run",
    "run_external",
    "run_toolbox",
    "save_captions",
    "save_similarity",
    "score",
    "search",
    "sequences",
    "similarity",
    "space",
    "text_similarity",
    "truths",
    "write_report",
]


if not TYPE_CHECKING:  # type checkers know the public names and no others

    def __getattr__(name: str) -> Any:
        """Load a public name from its station at its first use."""
        if name == "__version__":
            from importlib.metadata import version

            return version("edgecil")
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'edgecil' has no attribute {name!r}")
        module = import_module(_MODULE_OF[name])
        # A station with the name of its function can be called; Python binds it here on import.
        return module if module.__name__ == f"edgecil.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
