"""The names of this package, which `lazy_loader` imports at their first use."""

from .questions import ReadingQuestion as ReadingQuestion
from .reading import Reading as Reading, read as read
from .reading_options import ReadingOptions as ReadingOptions
