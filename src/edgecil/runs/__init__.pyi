"""The names of this station, which `lazy_loader` imports at their first use."""

from .metrics import METRICS as METRICS, Counts as Counts, Metric as Metric, metric as metric
from .reading import Reading as Reading, ReadingQuestion as ReadingQuestion, read as read
from .run_files import read_runs as read_runs
from .run_table import Orders as Orders, Runs as Runs
