from ._leaderboard import (
    Leaderboard as Leaderboard,
    LeaderboardRow as LeaderboardRow,
    leaderboard as leaderboard,
)
from .truth_files import (
    read_truths as read_truths,
    write_truths as write_truths,
)
from .truth_tables import (
    TruthTable as TruthTable,
    truths as truths,
)
