from __future__ import annotations

from tests.toys import HARD, TASKS, Bench, learn, same

BENCH = Bench("memo", HARD, epochs=1)


def test_shared_stages_stand_still_after_the_first_task_if_they_are_not_to_learn() -> None:
    method = BENCH.build(train_shared=False)
    states = []
    for tasks in range(1, 3):
        learn(method, BENCH.scenario, TASKS[:tasks])
        states.append(method.state()["network"])
    shared = [name for name in states[0] if name.startswith("backbone.shared")]
    assert all(same(states[0][name], states[1][name]) for name in shared)
    again = BENCH.build(train_shared=False)
    again.restore(method.state())
    for learner in (method, again):
        assert not any(
            value.requires_grad for value in learner.network.backbone.shared.parameters()
        )
        assert all(value.requires_grad for value in learner.network.backbone.newest.parameters())
