"""Our learners on a frozen transformer and PILOT's compute the same from the same weights.

Runs with `make parity TOOLBOX=PATH`, where PATH is a checkout of PILOT. Both learners are in one
process around one transformer; what ours has trained is copied into PILOT's, which then computes
prototypes, ridge regressions, losses, gradients and predictions with its own code.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from edgecil.methods import (
    adapters as adapters_module,
    class_statistics,
    get_method,
    slca as slca_module,
)
from edgecil.methods.coda_prompt import gram_schmidt_rows
from edgecil.methods.ease import EASE, complete_prototypes
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.method import Method, suited_to
from edgecil.methods.mos import MOS
from edgecil.methods.ranpac import RanPAC
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Scenario, derive_generator
from tests.parity.toolbox import TOOLBOX, requires
from tests.toys import TASKS, learn, learn_all, toy_dataset, toy_environment

SCHEDULE = Schedule(
    epochs=2, learning_rate=0.01, schedule="cosine", optimizer="adam", batch_size=8, augment=()
)
LARGEST_GAP = 1e-3
DATASET = toy_dataset(train=12, test=6)
SCENARIO = Scenario(DATASET)

pytestmark = requires("PILOT")


def pair(name: str, schedule: Schedule = SCHEDULE, **settings: Any) -> tuple[Any, Any, Any]:
    """Our learner, PILOT's around the same transformer, and its images; both untrained."""
    sys.path[:0] = [str(Path(__file__).parents[2] / "benchmarks"), str(TOOLBOX)]
    import reference
    import reference_pilot

    torch.set_num_threads(1)
    environment = toy_environment(DATASET, frozen=True)
    entry = get_method(name)
    memory = MemoryBudget(total=None, per_class=1)
    config = entry.configure(schedule, memory, {**entry.published_settings, **settings})
    ours: Method = entry.build(config, environment)
    reference.Loader.environment = suited_to(environment.backbone, environment)
    reference.Loader.schedule = schedule
    torch.manual_seed(0)
    vit: Any = ours.vit if entry.pretrained else copy.deepcopy(ours.network.backbone)  # type: ignore[attr-defined]
    theirs = reference_pilot._build(name, config, schedule, vit, TASKS)
    return ours, theirs, reference.Images(DATASET, TASKS, 1)


@contextmanager
def batches(orders: list[torch.Tensor]) -> Iterator[None]:
    """Let PILOT's loaders give images in these orders, epoch by epoch."""
    import reference

    reference.Loader.orders = iter(orders)
    try:
        yield
    finally:
        reference.Loader.orders = None


def copy_adapters(ours: Any, theirs: Any) -> None:
    """Write our adapters into PILOT's, block by block."""
    with torch.no_grad():
        for own, other in zip(ours, theirs, strict=True):
            other.down_proj.weight.copy_(own.down_weight)
            other.down_proj.bias.copy_(own.down_bias)
            other.up_proj.weight.copy_(own.up_weight)
            other.up_proj.bias.copy_(own.up_bias)


def agree(what: str, ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Equal up to rounding in single precision, relative to the largest value."""
    gap = float((ours - theirs).detach().abs().max() / theirs.detach().abs().max())
    print(f"{what}: largest relative gap {gap:.1e}")  # noqa: T201
    assert gap < LARGEST_GAP


def predictions(learner: Any) -> list[int]:
    predicted, _ = learner._eval_cnn(learner.test_loader)
    return [int(label) for label in predicted[:, 0]]


def ours_on_the_same_images(method: Method) -> list[int]:
    images = SCENARIO.test.only(method.seen)
    return [int(label) for label in method.classify(images.inputs)["head"]]


def test_ease_completes_the_same_prototypes() -> None:
    ours, theirs, images = pair("ease", bottleneck=4)
    assert isinstance(ours, EASE)
    for end in range(1, len(TASKS) + 1):
        learn(ours, SCENARIO, TASKS[:end])
        theirs._train = lambda *_: copy_adapters(
            ours.adapters[-1], theirs._network.backbone.cur_adapter
        )
        theirs.incremental_train(images)
        complete = complete_prototypes(ours.prototypes)
        weights = theirs._network.fc.weight.detach().unflatten(1, (end, -1)).transpose(0, 1)
        agree("ease: prototypes", weights, complete)
        assert predictions(theirs) == ours_on_the_same_images(ours)
        theirs.after_task()


@pytest.mark.parametrize("name", ["ease", "aper", "ranpac"])
def test_adapters_in_lockstep(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the same first adapters, head and batches: the same afterwards.

    Without dropout, which each code draws by itself.
    """
    schedule = replace(SCHEDULE, optimizer="sgd", learning_rate=0.5, weight_decay=5e-3, epochs=3)
    more = {"projection": 40} if name == "ranpac" else {}
    ours, theirs, images = pair(name, schedule, bottleneck=4, **more)
    monkeypatch.setattr(adapters_module, "_DROPOUT", 0.0)
    fit, trainings = adapters_module.fit, []

    def record(
        parameters: Any, data: Any, loss: Any, used: Schedule, task: Any, *rest: Any
    ) -> None:
        parameters = list(parameters)
        first = [value.detach().clone() for value in parameters]
        orders = epoch_orders(task, used)
        fit(parameters, data, loss, used, task, *rest)
        trainings.append((first, orders, [value.detach().clone() for value in parameters]))

    monkeypatch.setattr(adapters_module, "fit", record)
    train = theirs._init_train

    def lockstep(*arguments: Any) -> None:
        first, orders, last = trainings[-1]
        network = theirs._network
        if name == "ease":
            adapters, head = network.backbone.cur_adapter, network.proxy_fc
        else:
            adapters, head = [one.adaptmlp for one in network.backbone.blocks], network.fc
        values = [head.weight, head.sigma]
        for adapter in reversed(list(adapters)):
            adapter.dropout = 0.0
            down, up = adapter.down_proj, adapter.up_proj
            values[:0] = [down.weight, down.bias, up.weight, up.bias]
        with torch.no_grad():
            for own, other in zip(first, values, strict=True):
                other.copy_(own)
        with batches(orders):
            train(*arguments)
        for start, own, other in zip(first, last, values, strict=True):
            assert not torch.equal(start, own)
            agree(f"{name}: in lockstep", own, other)

    theirs._init_train = lockstep
    for end in range(1, len(TASKS) + 1 if name == "ease" else 2):
        learn(ours, SCENARIO, TASKS[:end])
        theirs.incremental_train(images)
        theirs.after_task()
    assert len(trainings) == (len(TASKS) if name == "ease" else 1)


def test_ranpac_solves_the_same_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs, images = pair("ranpac", bottleneck=4, projection=40, cosine=True)
    monkeypatch.setattr(RanPAC, "ridge", property(lambda _: 100.0))
    set_up = theirs.setup_RP

    def same_projection() -> None:
        set_up()
        theirs.W_rand = theirs._network.W_rand = ours.projection

    theirs.setup_RP = same_projection
    theirs.optimise_ridge_parameter = lambda *_: 100.0
    blocks = theirs._network.backbone.blocks
    theirs._init_train = lambda *_: copy_adapters(
        ours.adapters, [block.adaptmlp for block in blocks]
    )
    for end in range(1, len(TASKS) + 1):
        learn(ours, SCENARIO, TASKS[:end])
        theirs.incremental_train(images)
        weights = torch.nn.functional.normalize(theirs._network.fc.weight.detach(), dim=1)
        agree("ranpac: weights of unit length", weights.double(), ours.weights().T)
        assert predictions(theirs) == ours_on_the_same_images(ours)
        theirs.after_task()


def test_mos_retrieves_the_same_adapters() -> None:
    ours, theirs, images = pair("mos", bottleneck=4, merging=0.0, alignment={"epochs": 2})
    assert isinstance(ours, MOS)
    network = theirs._network.backbone

    def take(*_: Any) -> None:
        copy_adapters(ours.adapters[-1], network.cur_adapter)
        network.adapter_update()
        with torch.no_grad():
            network.head.weight[: len(ours.seen)].copy_(ours.head.weight)
            network.head.bias[: len(ours.seen)].copy_(ours.head.bias)

    theirs._train = take
    for end in range(1, len(TASKS) + 1):
        learn(ours, SCENARIO, TASKS[:end])
        network.eval()
        theirs.incremental_train(images)
        means = theirs._network.fc.weight.detach()
        agree("mos: prototypes", means, ours.prototypes)
        assert predictions(theirs) == ours_on_the_same_images(ours)
        theirs.after_task()


def test_coda_prompt_starts_new_components_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs, _ = pair("coda-prompt", components=3)
    learn_all(ours, SCENARIO, TASKS[:2])
    prompt, old = theirs._network.prompt, ours.stacked("keys").detach()
    prompt.task_count = 2
    expected = gram_schmidt_rows(3, old, torch.Generator().manual_seed(5))
    draws = torch.randn(3, len(old), old.shape[2], generator=torch.Generator().manual_seed(5))
    for layer in range(ours.layers):
        rows = iter(draws[:, layer])
        monkeypatch.setattr(torch, "randn_like", lambda _, rows=rows: next(rows))
        before = torch.zeros(prompt.e_pool_size, old.shape[2])
        before[:6] = old[layer]
        after = prompt.gram_schmidt(before)
        agree("coda-prompt: new keys", expected[layer], after[6:9])


Pairs = dict[str, tuple[torch.Tensor, torch.Tensor]]


def l2p_pairs(ours: Any, network: Any, _: int) -> Pairs:
    own, pool = ours.prompts[0], network.backbone.prompt
    return {"tokens": (own["tokens"], pool.prompt), "keys": (own["keys"], pool.prompt_key)}


def coda_pairs(ours: Any, network: Any, task: int) -> Pairs:
    return {
        f"{name}, layer {layer}": (
            ours.prompts[-1][name][layer],
            getattr(network.prompt, f"{kind}_{layer}")[3 * task : 3 * task + 3],
        )
        for kind, name in {"e_p": "components", "e_k": "keys", "e_a": "attention"}.items()
        for layer in range(ours.layers)
    }


def dual_pairs(ours: Any, network: Any, task: int) -> Pairs:
    """In PILOT the random keys of later tasks compete for images, too; here they lose."""
    newest, pool, heads = ours.prompts[-1], network.backbone.e_prompt, ours.vit.layout.heads
    general, expert = (newest[kind].unflatten(-1, (heads, -1)) for kind in ("general", "expert"))
    pool.prompt_key.data[task + 1 :] = -ours.frozen_features(SCENARIO.train.inputs).mean(dim=0)
    return {
        "general": (general, network.backbone.g_prompt),
        "expert": (expert, pool.prompt[:, :, task]),
        "key": (newest["key"], pool.prompt_key[task]),
    }


@pytest.mark.parametrize(
    ("name", "changes", "settings", "pairs"),
    [
        ("l2p", {"schedule": "steps", "milestones": ()}, {}, l2p_pairs),
        ("dualprompt", {"schedule": "steps", "milestones": ()}, {}, dual_pairs),
        (
            "coda-prompt",
            {"schedule": "quarter-cosine", "drop_last": True},
            {"components": 3},
            coda_pairs,
        ),
    ],
)
def test_prompts_in_lockstep(
    name: str, changes: dict[str, Any], settings: dict[str, Any], pairs: Callable[..., Pairs]
) -> None:
    """Three tasks from the same first prompts, head and batches: the same afterwards."""
    schedule = replace(SCHEDULE, weight_decay=0.0, epochs=3, **changes)
    ours, theirs, images = pair(name, schedule, **settings)
    network, train = theirs._network, theirs._train
    head = network.fc if name == "coda-prompt" else network.backbone.head

    def compared(learner: Any, task: int) -> Pairs:
        weight, bias = (getattr(head, kind)[: learner.head.classes] for kind in ("weight", "bias"))
        heads = {"head": (learner.head.weight, weight), "bias": (learner.head.bias, bias)}
        return {**pairs(learner, network, task), **heads}

    for number in range(len(TASKS)):
        with SCENARIO.task(TASKS[: number + 1], 0) as task:
            first = type(ours)(ours.config, ours.environment)
            first.restore(ours.state())
            first.head.grow(len(task.classes), derive_generator("cpu", task.seed, "head"))
            first.grow(task)
            orders = epoch_orders(task, ours.schedule)
            ours.learn(task)

        def copy_and_train(*loaders: Any, first: Any = first, number: int = number) -> None:
            with torch.no_grad():
                for own, other in compared(first, number).values():
                    other.copy_(own)
            train(*loaders)

        theirs._train = copy_and_train
        with batches(orders):
            theirs.incremental_train(images)
        assert predictions(theirs) == ours_on_the_same_images(ours)
        for what, (own, other) in compared(ours, number).items():
            agree(f"{name}: {what}", own, other)
        theirs.after_task()


def test_slca_in_lockstep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tasks from the same backbone, new outputs, batches and sampled features.

    The backbone is copied once, before the first task. PILOT's own class statistics are compared;
    in place of its samples it gets ours, in our order.
    """
    schedule = replace(
        SCHEDULE,
        epochs=3,
        learning_rate=0.1,
        schedule="steps",
        milestones=(2,),
        optimizer="sgd",
        weight_decay=5e-4,
    )
    ours, theirs, images = pair("slca", schedule, alignment={"learning_rate": 0.1})
    samples: list[tuple[torch.Tensor, torch.Tensor]] = []  # of our batches
    record_alignment(samples, monkeypatch)
    shrunk: list[torch.Tensor] = []  # means of PILOT's distributions
    theirs_module = sys.modules[type(theirs).__module__]

    def epoch(drawn: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Our features and labels of the epoch after so many of PILOT's draws, one per class."""
        start = drawn // len(ours.seen) * len(ours.seen)  # there is a batch per class
        batches = samples[start : start + len(ours.seen)]
        return torch.cat([rows for rows, _ in batches]), torch.cat([own for _, own in batches])

    class OurSamples:
        def __init__(self, mean: torch.Tensor, _: torch.Tensor) -> None:
            self.mean = mean

        def sample(self, sample_shape: tuple[int]) -> torch.Tensor:
            rows, labels = epoch(len(shrunk))
            chosen = rows[labels == len(shrunk) % len(ours.seen)]
            assert chosen.shape[:1] == sample_shape
            shrunk.append(self.mean)
            return chosen

    class OurOrder:
        def __getattr__(self, name: str) -> Any:
            return getattr(torch, name)

        def randperm(self, count: int) -> torch.Tensor:
            _, labels = epoch(len(shrunk) - 1)
            assert len(labels) == count
            return labels.argsort(stable=True).argsort()

    monkeypatch.setattr(theirs_module, "MultivariateNormal", OurSamples)
    monkeypatch.setattr(theirs_module, "torch", OurOrder())
    train, network = theirs._stage1_training, theirs._network

    def copy_and_train(*loaders: Any) -> None:
        with torch.no_grad():
            network.fc.heads[-1][0].weight.copy_(first.network.head.weight[-2:])
            network.fc.heads[-1][0].bias.copy_(first.network.head.bias[-2:])
        train(*loaders)

    theirs._stage1_training = copy_and_train
    for number in range(len(TASKS)):
        samples.clear()
        shrunk.clear()
        with SCENARIO.task(TASKS[: number + 1], 0) as task:
            first = type(ours)(ours.config, ours.environment)
            if number:
                first.restore(ours.state())
            first.grow(task)
            orders = epoch_orders(task, schedule)
            ours.learn(task)
        with batches(orders):
            theirs.incremental_train(images)
        before, after, reached = (
            torch.cat([value.detach().flatten() for value in one.parameters()])
            for one in (first.network.backbone, ours.network.backbone, network.backbone)
        )
        agree("slca: backbone", after, reached)
        agree("slca: what the backbone learnt", after - before, reached - before)
        agree("slca: means", ours.gaussians.means, torch.tensor(theirs._class_means_slca))
        covariances = ours.gaussians.roots @ ours.gaussians.roots.mT
        agree("slca: covariances", covariances, theirs._class_covs_slca)
        if number:
            assert not torch.allclose(ours.aligned.weight, ours.network.head.weight, rtol=0.01)
            assert len(shrunk) == len(ours.seen) * ours.config.alignment.epochs
            ages = torch.arange(1, number + 2).repeat_interleave(2) / (number + 1)
            expected = ours.gaussians.means * (0.9 + 0.1 * ages)[:, None]
            agree("slca: shrunk means", expected, torch.stack(shrunk[: len(ours.seen)]))
        agree("slca: aligned head", ours.aligned.weight, joined(network.fc))
        assert predictions(theirs) == ours_on_the_same_images(ours)
        theirs.after_task()
        agree("slca: head", ours.network.head.weight, joined(network.fc))


def joined(heads: Any) -> torch.Tensor:
    """Weights of PILOT's heads, one for each task."""
    return torch.cat([head[0].weight for head in heads.heads])


def record_alignment(
    samples: list[tuple[torch.Tensor, torch.Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Record features and labels of every batch that our SLCA aligns its head with."""
    align, entropy = slca_module.align_classifier, class_statistics.cross_entropy
    inputs: list[torch.Tensor] = []

    def recorded(classifier: Any, *rest: Any, **named: Any) -> None:
        hook = classifier.register_forward_pre_hook(
            lambda _, given: inputs.append(given[0].detach().clone())
        )
        align(classifier, *rest, **named)
        hook.remove()

    def note(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        samples.append((inputs[-1], labels.clone()))
        return entropy(logits, labels)

    monkeypatch.setattr(slca_module, "align_classifier", recorded)
    monkeypatch.setattr(class_statistics, "cross_entropy", note)


def epoch_orders(task: Any, schedule: Schedule) -> list[torch.Tensor]:
    """The order of a task's images in every epoch of our training."""
    return [
        torch.randperm(len(task.labels), generator=task.generator("learn", epoch))
        for epoch in range(schedule.epochs)
    ]
