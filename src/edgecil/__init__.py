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

if TYPE_CHECKING:  # `X as X` exports X for type checkers
    from edgecil.catalogue import (
        list_backbones as list_backbones,
        list_datasets as list_datasets,
        list_encoders as list_encoders,
        list_generators as list_generators,
        list_methods as list_methods,
        list_objectives as list_objectives,
        list_protocols as list_protocols,
        list_recipes as list_recipes,
    )
    from edgecil.classes import (
        ClassList as ClassList,
        dataset_names as dataset_names,
        get_classes as get_classes,
        read_classes as read_classes,
        register_classes as register_classes,
    )
    from edgecil.data import (
        load_dataset as load_dataset,
    )
    from edgecil.engine import (
        AccuracyTable as AccuracyTable,
        Execution as Execution,
        Experiment as Experiment,
        ExperimentConfig as ExperimentConfig,
        RunResult as RunResult,
        Status as Status,
        TrainingFailedError as TrainingFailedError,
    )
    from edgecil.engine.merge import (
        merge as merge,
    )
    from edgecil.engine.plan_run import (
        RunPlan as RunPlan,
        plan_run as plan_run,
    )
    from edgecil.engine.run import (
        run as run,
    )
    from edgecil.errors import (
        DataError as DataError,
        EdgecilError as EdgecilError,
        EdgecilWarning as EdgecilWarning,
        PrerequisiteError as PrerequisiteError,
        UsageError as UsageError,
    )
    from edgecil.estimation import (
        Analysis as Analysis,
        DatasetAnalysis as DatasetAnalysis,
        Leaderboard as Leaderboard,
        LeaderboardRow as LeaderboardRow,
        MethodAnalysis as MethodAnalysis,
        MethodComparison as MethodComparison,
        NextRuns as NextRuns,
        TruthTable as TruthTable,
        truths as truths,
    )
    from edgecil.estimation.analyze import (
        analyze as analyze,
    )
    from edgecil.estimation.compare import (
        compare as compare,
    )
    from edgecil.estimation.leaderboard import (
        leaderboard as leaderboard,
    )
    from edgecil.estimation.next_runs import (
        next_runs as next_runs,
    )
    from edgecil.estimation.published import (
        PublishedRanking as PublishedRanking,
        rank as rank,
    )
    from edgecil.estimation.sources import (
        export_runs as export_runs,
    )
    from edgecil.interop import (
        export as export,
        import_logs as import_logs,
        read_toolbox_config as read_toolbox_config,
        run_external as run_external,
        run_toolbox as run_toolbox,
    )
    from edgecil.methods import (
        Method as Method,
        register_method as register_method,
    )
    from edgecil.recipes import (
        read_recipe as read_recipe,
        recipe_names as recipe_names,
        recipe_text as recipe_text,
    )
    from edgecil.report import (
        Report as Report,
        write_report as write_report,
    )
    from edgecil.report.figures import (
        draw_sequences as draw_sequences,
    )
    from edgecil.report.paper_tables import (
        paper_tables as paper_tables,
    )
    from edgecil.search import (
        SearchResult as SearchResult,
        Trial as Trial,
        search as search,
    )
    from edgecil.sequences import (
        Agreement as Agreement,
        ChosenSequences as ChosenSequences,
        ClassSequence as ClassSequence,
        LabelledSequence as LabelledSequence,
        Objective as Objective,
        Profile as Profile,
        ScoredSequence as ScoredSequence,
        SequenceSpace as SequenceSpace,
        compare_similarities as compare_similarities,
        find_optimum as find_optimum,
        profile as profile,
        profile_file as profile_file,
        protocol as protocol,
        read_sequence as read_sequence,
        score as score,
        sequences as sequences,
    )
    from edgecil.sequences.agreement import (
        compare_files as compare_files,
    )
    from edgecil.similarity import (
        Embeddings as Embeddings,
        SimilarityMatrix as SimilarityMatrix,
        choose_similarity as choose_similarity,
        prototype_embeddings as prototype_embeddings,
        read_similarity as read_similarity,
        save_similarity as save_similarity,
        similarity as similarity,
        text_similarity as text_similarity,
    )
    from edgecil.similarity.captioning import (
        captions as captions,
    )
    from edgecil.similarity.captions import (
        save_captions as save_captions,
    )
    from edgecil.theory import (
        SpaceSummary as SpaceSummary,
        space as space,
    )

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
    "edgecil.engine": (
        "AccuracyTable",
        "Execution",
        "Experiment",
        "ExperimentConfig",
        "RunResult",
        "Status",
        "TrainingFailedError",
    ),
    "edgecil.engine.merge": ("merge",),
    "edgecil.engine.plan_run": ("RunPlan", "plan_run"),
    "edgecil.engine.run": ("run",),
    "edgecil.errors": (
        "DataError",
        "EdgecilError",
        "EdgecilWarning",
        "PrerequisiteError",
        "UsageError",
    ),
    "edgecil.estimation": (
        "Analysis",
        "DatasetAnalysis",
        "Leaderboard",
        "LeaderboardRow",
        "MethodAnalysis",
        "MethodComparison",
        "NextRuns",
        "TruthTable",
        "truths",
    ),
    "edgecil.estimation.analyze": ("analyze",),
    "edgecil.estimation.compare": ("compare",),
    "edgecil.estimation.leaderboard": ("leaderboard",),
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
    "edgecil.report.figures": ("draw_sequences",),
    "edgecil.report.paper_tables": ("paper_tables",),
    "edgecil.search": ("SearchResult", "Trial", "search"),
    "edgecil.sequences": (
        "Agreement",
        "ChosenSequences",
        "ClassSequence",
        "LabelledSequence",
        "Objective",
        "Profile",
        "ScoredSequence",
        "SequenceSpace",
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
    "edgecil.theory": ("SpaceSummary", "space"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE_OF)


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
