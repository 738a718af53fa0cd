"""Settings outside their range are refused when a learner is configured."""

from __future__ import annotations

from typing import Any

import pytest

from edgecil.errors import UsageError
from edgecil.methods import get_method


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("acil", {"ridge": 0.0}, "'ridge' of ACIL must be more than 0. Got 0.0."),
        ("aper", {"bottleneck": 0}, "'bottleneck' of APER must be 1 or more. Got 0."),
        ("bic", {"correction": "bias"}, "Unknown correction 'bias'"),
        ("bic", {"held_out": 1.0}, "'held_out' of BiC must be between 0 and 1. Got 1.0."),
        ("coda-prompt", {"start": "random"}, "Unknown start 'random'"),
        ("coda-prompt", {"length": 3}, "even length"),
        ("coda-prompt", {"length": 0}, "2 or more"),
        ("coda-prompt", {"components": 0}, "'components' of CODAPrompt"),
        ("coda-prompt", {"layers": 0}, "'layers' of CODAPrompt"),
        ("der", {"balancing": -5}, "'balancing' of Expanding must be 0 or more. Got -5."),
        ("dualprompt", {"general": 0}, "'general' of DualPrompt"),
        ("ease", {"bottleneck": 0}, "'bottleneck' of EASE"),
        ("ease", {"others": -0.1}, "'others' of EASE must be 0 or more"),
        ("ewc", {"fisher_images": "none"}, "Unknown fisher_images 'none'"),
        ("fecam", {"shrinkage": 0.0}, "'shrinkage' of FeCAM must be more than 0"),
        ("hide-prompt", {"inference_batch": 0}, "'inference_batch' of HiDePrompt"),
        ("hide-prompt", {"temperature": 0.0}, "'temperature' of HiDePrompt"),
        ("hide-prompt", {"ensemble": 1.5}, "'ensemble' of HiDePrompt must be from 0 to 1"),
        ("icarl", {"selection": "first"}, "Unknown selection 'first'"),
        ("l2p", {"chosen": 11}, "'chosen' to be from 1 to the pool of 10. Got 11."),
        ("l2p", {"chosen": 0}, "'chosen' of L2P"),
        ("l2p", {"length": 0}, "'length' of L2P"),
        ("lucir", {"rivals": 0}, "'rivals' of LUCIR"),
        ("mos", {"bottleneck": 0}, "'bottleneck' of MOS"),
        ("mos", {"merging": 1.5}, "'merging' of MOS must be from 0 to 1. Got 1.5."),
        ("mos", {"merging_rule": "never"}, "Unknown merging_rule 'never'"),
        ("ranpac", {"bottleneck": -1}, "'bottleneck' of RanPAC must be 0 or more. Got -1."),
        ("ranpac", {"projection": 0}, "'projection' of RanPAC"),
        ("slca", {"slow": 0.0}, "'slow' of SLCA"),
        ("slca", {"temperature": 0.0}, "'temperature' of SLCA"),
    ],
)
def test_impossible_settings_are_refused(
    method: str, settings: dict[str, Any], message: str
) -> None:
    entry = get_method(method)
    with pytest.raises(UsageError) as refused:
        entry.configure(*entry.schedule("paper", "resnet32"), settings)
    assert message in str(refused.value)
