from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from edgecil.errors import UsageError
from edgecil.methods import PAPER, get_method, method_names
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.setups import PAPER_MEMORY


def test_case_and_dashes_of_a_name_do_not_matter() -> None:
    assert get_method("iCaRL") is get_method("icarl")
    assert get_method("HiDe Prompt").name == "hide-prompt"
    assert set(method_names("*prompt")) == {"coda-prompt", "dualprompt", "hide-prompt"}


def test_published_hyper_parameters() -> None:
    ewc, icarl = get_method("ewc").config(), get_method("icarl").config()
    assert (ewc.strength, ewc.fisher_cap) == (1000.0, 1e-4)
    assert (icarl.temperature, icarl.memory) == (2.0, MemoryBudget(2000, 20))
    foster, tagfex = get_method("foster").config(), get_method("tagfex").config()
    assert (foster.boosting_beta, foster.compression_beta) == (0.96, 0.97)
    assert (foster.distillation, foster.temperature) == (1.0, 2.0)
    assert foster.schedule.lasting(foster.compression).epochs == 130
    assert get_method("der").config().auxiliary == get_method("memo").config().auxiliary == 1.0
    assert (tagfex.auxiliary, tagfex.contrast, tagfex.contrast_distillation) == (2.0, 1.0, 2.0)
    assert (tagfex.contrast_temperature, tagfex.transfer_temperature) == (0.2, 2.0)
    assert (tagfex.transfer, tagfex.attention_heads, tagfex.inherited) == (1.0, 8, 0.95)
    assert [512 * multiple for multiple in tagfex.projector] == [2048, 1024]


def test_settings_change_what_they_name_and_nothing_else() -> None:
    icarl = get_method("icarl")
    changed = icarl.configure(
        PAPER,
        PAPER_MEMORY,
        {
            "temperature": 3,
            "memory": {"per_class": 5},
            "schedule": {"milestones": [10, 20], "augment": []},
        },
    )
    schedule = replace(PAPER, milestones=(10, 20), augment=())
    assert changed == replace(
        icarl.config(), temperature=3.0, memory=MemoryBudget(2000, 5), schedule=schedule
    )
    assert type(changed.temperature) is float


def test_a_recipe_brings_its_memory_to_those_who_keep_images() -> None:
    small = MemoryBudget(100, 3)
    assert get_method("icarl").configure(PAPER, small).memory == small
    assert get_method("ewc").configure(PAPER, small) == get_method("ewc").config()


def test_a_budget_may_be_without_one_of_its_limits() -> None:
    changed = get_method("icarl").configure(PAPER, PAPER_MEMORY, {"memory": {"per_class": None}})
    assert changed.memory == MemoryBudget(2000, None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temprature": 1.0}, "'temprature'.*'temperature'"),
        ({"memory": {"totl": 1}}, "icarl.memory.*'totl'"),
        ({"temperature": "hot"}, "'icarl.temperature'.*'hot'"),
        ({"temperature": None}, "'icarl.temperature'"),
        ({"memory": 20}, "'icarl.memory'"),
        ({"memory": {"total": True}}, "'icarl.memory.total'"),
        ({"memory": {"total": 2.5}}, "'icarl.memory.total'.*2.5"),
        ({"memory": {"total": -1}}, "'icarl.memory.total'.*0.*-1"),
        ({"schedule": {"augment": "flip"}}, "'icarl.schedule.augment'"),
        ({"schedule": {"milestones": ["60"]}}, "'icarl.schedule.milestones'"),
        ({"schedule": {"epochs": None}}, "'icarl.schedule.epochs'"),
    ],
)
def test_wrong_names_and_kinds_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        get_method("icarl").configure(PAPER, PAPER_MEMORY, settings)
