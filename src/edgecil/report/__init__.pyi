from .write import (
    Report as Report,
    write_report as write_report,
)
