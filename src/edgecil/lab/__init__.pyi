from ._audit import (
    audit as audit,
)
from ._leaderboard import (
    Leaderboard as Leaderboard,
    LeaderboardRow as LeaderboardRow,
    leaderboard as leaderboard,
)
from .audits import (
    Audit as Audit,
    AuditOptions as AuditOptions,
    DatasetAudit as DatasetAudit,
    MethodAudit as MethodAudit,
)
from .estimators import (
    ESTIMATORS as ESTIMATORS,
    get_estimator as get_estimator,
)
from .truth_files import (
    read_truths as read_truths,
    write_truths as write_truths,
)
from .truth_tables import (
    TruthTable as TruthTable,
    truths as truths,
)
