from ._audit import (
    Audit as Audit,
    DatasetAudit as DatasetAudit,
    MethodAudit as MethodAudit,
    audit as audit,
)
from ._leaderboard import (
    Leaderboard as Leaderboard,
    LeaderboardRow as LeaderboardRow,
    leaderboard as leaderboard,
)
from .estimators import ESTIMATORS as ESTIMATORS
from .truth_tables import (
    TruthTable as TruthTable,
    read_truths as read_truths,
    truths as truths,
    write_truths as write_truths,
)
