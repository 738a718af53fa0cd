"""Config files of PyCIL and PILOT as options of an experiment."""

from edgecil.engine.toolbox_configs.translate import (
    read_flat_config,
    read_toolbox_config,
    toolbox_dataset,
    toolbox_sizes,
)

__all__ = ["read_flat_config", "read_toolbox_config", "toolbox_dataset", "toolbox_sizes"]
