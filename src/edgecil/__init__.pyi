"""The public names and the modules that they come from, for type checkers and `__init__.py`.

`X as X` exports X.
"""

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
    Execution as Execution,
    Experiment as Experiment,
    ExperimentConfig as ExperimentConfig,
    RunResult as RunResult,
    Runs as Runs,
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
from edgecil.engine.toolbox_configs import (
    read_toolbox_config as read_toolbox_config,
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
    MethodAnalysis as MethodAnalysis,
    MethodComparison as MethodComparison,
    NextRuns as NextRuns,
)
from edgecil.estimation.analyze import (
    analyze as analyze,
)
from edgecil.estimation.compare import (
    compare as compare,
)
from edgecil.estimation.next_runs import (
    next_runs as next_runs,
)
from edgecil.estimation.sources import (
    export_runs as export_runs,
)
from edgecil.interop import (
    ExportedSequences as ExportedSequences,
    export as export,
    export_sequences as export_sequences,
    import_logs as import_logs,
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
    Protocol as Protocol,
    ScoredSequence as ScoredSequence,
    SequenceSpace as SequenceSpace,
    compare_similarities as compare_similarities,
    find_optimum as find_optimum,
    profile as profile,
    profile_file as profile_file,
    protocol as protocol,
    read_sequence as read_sequence,
    register_protocol as register_protocol,
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
from edgecil.similarity.captions import (
    save_captions as save_captions,
)

__version__: str
