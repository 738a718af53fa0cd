from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from edgecil.errors import UsageError
from edgecil.experiments.plan import Node, Plan
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.sequences.sequence import format_tasks, parse_tasks


def test_ninety_sequences_share_their_beginnings() -> None:
    plan = Plan(["m"], lambda _: [0], SequenceSpace.equal(6, 3).enumerate())
    depths = Counter(len(node.prefix) for node in plan)
    assert depths == {1: 15, 2: 90, 3: 90}
    assert len(plan) == 195
    assert len(plan.roots) == 15


def test_methods_and_seeds_share_nothing() -> None:
    sequences = list(SequenceSpace.equal(4, 2).enumerate())
    plan = Plan(["a", "b"], lambda _: [0, 1, 2], iter(sequences))
    assert len(plan) == 2 * 3 * (6 + 6)
    assert len(plan.roots) == 2 * 3 * 6
    same = [ClassSequence([[0, 1], [2, 3]]), ClassSequence([[1, 0], [3, 2]])]
    assert len(Plan(["m", "m"], lambda _: [0], same)) == 2


@given(data=st.data(), sizes=st.lists(st.integers(1, 2), min_size=1, max_size=3))
def test_every_node_is_a_prefix_of_a_sequence_and_follows_its_parent(data, sizes) -> None:
    space = list(SequenceSpace(sizes).enumerate())
    chosen = data.draw(st.lists(st.sampled_from(space), min_size=1))
    plan = Plan(["m"], lambda _: [0], chosen)
    prefixes = {run.tasks[:end] for run in chosen for end in range(1, len(run) + 1)}
    assert {node.prefix for node in plan} == prefixes
    assert len(plan) == len(prefixes)
    order = {node: place for place, node in enumerate(plan)}
    assert plan.roots == [node for node in plan if node.parent is None]
    for node in plan:
        assert node in plan
        assert [step.prefix for step in node.path] == [
            node.prefix[: end + 1] for end in range(len(node.prefix))
        ]
        if node.parent is not None:
            assert order[node.parent] < order[node]
            assert node in plan.children(node.parent)
    assert Node("other", 0, chosen[0].tasks) not in plan


@pytest.mark.parametrize(("prefix", "text"), [(((0, 1), (12, 3)), "0 1|12 3"), (((5,),), "5")])
def test_prefixes_as_text(prefix, text) -> None:
    assert format_tasks(prefix) == text
    assert parse_tasks(text) == prefix


@given(
    count=st.integers(1, 7),
    methods=st.integers(1, 3),
    seeds=st.integers(1, 2),
    picks=st.sets(st.integers(0, 89), min_size=1, max_size=40),
)
def test_shards_have_every_run_once(count, methods, seeds, picks) -> None:
    space = list(SequenceSpace.equal(6, 3).enumerate())
    plan = Plan(
        [f"m{index}" for index in range(methods)],
        lambda _: range(seeds),
        [space[pick] for pick in picks],
    )
    shards = [plan.shard(number, count) for number in range(1, count + 1)]
    runs = Counter(run for shard in shards for run in shard.runs)
    assert runs == Counter(plan.runs)
    for shard in shards:
        assert set(shard) == {node for run in shard.runs for node in run.path}
        assert set(shard) <= set(plan)


def test_shards_of_an_enumeration_keep_shared_beginnings_together() -> None:
    plan = Plan(["m"], lambda _: [0], SequenceSpace.equal(6, 3).enumerate())
    sizes = [len(plan.shard(number, 4)) for number in (1, 2, 3, 4)]
    assert sum(sizes) <= 195 + 3 * 2, "where two parts meet, at most two tasks are trained twice"
    assert max(sizes) <= 1.1 * 195 / 4
    runs = [len(plan.shard(number, 60).runs) for number in range(1, 61)]
    assert (min(runs), max(runs)) == (1, 2)


def test_shards_spread_every_method_and_may_be_empty() -> None:
    sequences = list(SequenceSpace.equal(6, 3).enumerate())[::30]
    plan = Plan(["cheap", "dear"], lambda _: [0], sequences)
    shards = [Counter(run.method for run in plan.shard(it, 3).runs) for it in (1, 2, 3)]
    assert shards == [{"cheap": 1, "dear": 1}] * 3
    assert [len(plan.shard(number, 6).runs) for number in range(1, 7)] == [0, 2] * 3


@pytest.mark.parametrize(("number", "count"), [(0, 3), (4, 3), (1, 0)])
def test_a_shard_that_does_not_exist_is_refused(number, count) -> None:
    with pytest.raises(UsageError, match=f"Got {number} of {count}"):
        Plan(["m"], lambda _: [0], [ClassSequence([[0], [1]])]).shard(number, count)
