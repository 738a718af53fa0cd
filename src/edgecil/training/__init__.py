"""From a configuration to results: presets, planner, check, scheduler, executors, run."""
