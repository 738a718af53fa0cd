from ._normality import (
    Normality as Normality,
    check_normality as check_normality,
    normality as normality,
)
from ._space import (
    BoundSummary as BoundSummary,
    SeenRange as SeenRange,
    SpaceSummary as SpaceSummary,
    TailSummary as TailSummary,
    space as space,
)
from .agreement import (
    Agreement as Agreement,
    Consistency as Consistency,
    compare_similarities as compare_similarities,
    consistency as consistency,
)
from .bounds import (
    BOUNDS as BOUNDS,
    HOEFFDING_SERFLING as HOEFFDING_SERFLING,
    THEOREM_1 as THEOREM_1,
    THEOREM_2 as THEOREM_2,
    SampleBound as SampleBound,
)
from .captioning import (
    captions as captions,
)
from .greedy import (
    PAPER_PARTITIONS as PAPER_PARTITIONS,
    GreedyBound as GreedyBound,
    greedy_bound as greedy_bound,
    partition_table as partition_table,
)
from .paper_tables import (
    paper_tables as paper_tables,
)
from .published_summaries import (
    PublishedRanking as PublishedRanking,
    rank_published as rank_published,
)
from .similarity_error import (
    Theorem3 as Theorem3,
    check_theorem_3 as check_theorem_3,
)
