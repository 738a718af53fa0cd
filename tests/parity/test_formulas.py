"""FeCAM, ACIL, DER++ and LUCIR compute what the code of their references computes.

Runs with `make parity TOOLBOX=PATH`, where PATH is a checkout of FeCAM, of the analytic learners
(ACIL) or of Mammoth. Their code gets our features, weights, exemplars and batches; of files that
import more than torch, only the functions that are compared are loaded.
"""

from __future__ import annotations

import ast
import runpy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from edgecil.methods.acil import ACIL
from edgecil.methods.derpp import DERpp
from edgecil.methods.fecam import FeCAM
from edgecil.methods.lucir import LUCIR
from edgecil.methods.task import Scenario
from tests.parity.toolbox import TOOLBOX, requires
from tests.toys import QUICK, TASKS, build, learn, learn_all, toy_dataset

DATASET = toy_dataset(train=12, test=6)
SCENARIO = Scenario(DATASET)


def load(name: str, *wanted: str) -> SimpleNamespace:
    """Definitions of a file, without the rest of the file."""
    tree = ast.parse((TOOLBOX / name).read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if getattr(node, "name", None) in wanted]
    names: dict[str, Any] = {"np": np, "torch": torch, "F": functional, "nn": torch.nn}
    names |= {"ContinualModel": object}
    exec(compile(tree, name, "exec"), names)
    return SimpleNamespace(**{one: names[one] for one in wanted})


@requires("FeCAM")
def test_fecam_has_the_same_distances() -> None:
    theirs = load("FeCAM_vit_cifar100.py", "shrink_cov", "normalize_cov", "_mahalanobis")
    method = build("fecam", DATASET)
    assert isinstance(method, FeCAM)
    learn_all(method, SCENARIO, TASKS)
    images = method.features(SCENARIO.test.inputs)
    distances = []
    for label, class_ in enumerate(method.seen):
        rows = method.features(SCENARIO.train.only((class_,)).inputs).numpy()
        (matrix,) = theirs.normalize_cov([theirs.shrink_cov(np.cov(rows.T))])
        expected = theirs._mahalanobis(images.numpy() - np.mean(rows, axis=0), matrix)
        apart = torch.linalg.solve_triangular(
            method.gaussians.roots[label], (images - method.gaussians.means[label]).T, upper=False
        )
        np.testing.assert_allclose(apart.square().sum(dim=0), expected, rtol=1e-4)
        distances.append(expected)
    expected = np.stack(distances).argmin(axis=0)
    assert method.classify(SCENARIO.test.inputs)["head"].tolist() == expected.tolist()


@requires("ACIL")
def test_acil_has_the_weights_of_the_recursion() -> None:
    module = runpy.run_path(str(TOOLBOX / "analytic/AnalyticLinear.py"))
    linear = module["RecursiveLinear"](40, 0.1)
    method = build("acil", DATASET, settings={"projection": 40, "relative": False})
    assert isinstance(method, ACIL)
    for end in range(1, len(TASKS) + 1):
        learn(method, SCENARIO, TASKS[:end])
        images = SCENARIO.train.only(TASKS[end - 1])
        labels = torch.tensor([method.seen.index(int(label)) for label in images.labels])
        rows = method.project(method.features(images.inputs))
        linear.fit(rows, functional.one_hot(labels, len(method.seen)))
        gap = (method.weights() - linear.weight).abs().max() / linear.weight.abs().max()
        print(f"acil: largest relative gap {float(gap):.1e}")  # noqa: T201
        assert gap < 1e-6


@requires("Mammoth")
def test_derpp_has_the_same_loss_and_gradients() -> None:
    """One step of Mammoth's learner with our network and exemplars; no class came later."""
    theirs = load("models/derpp.py", "Derpp").Derpp
    method = build("derpp", DATASET, schedule=QUICK, settings={"memory": {"per_class": 4}})
    assert isinstance(method, DERpp)
    learn_all(method, SCENARIO, TASKS[:1])
    network, exemplars = method.network, torch.cat([method.memory.of_class(i) for i in range(2)])
    prepare, labels = method.environment.pipeline(), torch.tensor([0] * 4 + [1] * 4)
    images = prepare.plain(SCENARIO.train.only(TASKS[1]).inputs[:6])
    new = torch.tensor([2, 3] * 3)
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
        method.grow(task)
        network.eval()
        order = torch.arange(8)
        method.replay = lambda: (network(prepare.plain(exemplars)), order)  # type: ignore[method-assign]
        value = method.loss(images, new, task)
    value.backward()
    ours = {name: one.grad.clone() for name, one in network.named_parameters()}
    network.zero_grad()
    # Mammoth's head has all outputs from the start; here stored logits have the old ones
    stored, calls = torch.cat(method.logits), []

    class Net:
        def __call__(self, given: torch.Tensor) -> torch.Tensor:
            calls.append(len(given))
            logits = network(given)
            return logits[:, :2] if len(calls) == 2 else logits

    learner = SimpleNamespace(
        opt=SimpleNamespace(zero_grad=network.zero_grad, step=lambda: None),
        net=Net(),
        loss=functional.cross_entropy,
        buffer=SimpleNamespace(
            is_empty=lambda: False,
            get_data=lambda *_, **__: (prepare.plain(exemplars), labels, stored),
            add_data=lambda **_: None,
        ),
        args=SimpleNamespace(alpha=method.config.alpha, beta=method.config.beta, minibatch_size=8),
        transform=None,
        device="cpu",
    )
    expected = theirs.observe(learner, images, new, images)
    assert float(value.detach()) == pytest.approx(expected, rel=1e-6)
    for name, one in network.named_parameters():
        torch.testing.assert_close(ours[name], one.grad, rtol=1e-5, atol=1e-7)


@requires("Mammoth")
def test_lucir_has_the_same_loss_and_gradients() -> None:
    parts = load("models/lucir.py", "lucir_batch_hard_triplet_loss", "Lucir")
    method = build("lucir", DATASET, schedule=QUICK)
    assert isinstance(method, LUCIR)
    learn_all(method, SCENARIO, TASKS[:1])
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(6, *DATASET.shape, generator=generator)
    labels = torch.tensor([0, 2, 1, 3, 0, 2])
    with SCENARIO.task(TASKS[:2], 0) as task:
        method.begin(task)
        method.grow(task)
        method.network.eval()
        value = method.loss(images, labels, task)
    value.backward()
    network, teacher = method.network, method.teacher
    assert teacher is not None
    ours = {name: one.grad.clone() for name, one in network.named_parameters()}
    network.zero_grad()
    head = network.head

    class Net:
        classifier = SimpleNamespace(
            sigma=head.scale,
            noscale_forward=lambda rows: (
                functional.normalize(rows, dim=1) @ functional.normalize(head.weight, dim=1).T
            ),
        )

        def __call__(self, given: torch.Tensor, **_: Any) -> torch.Tensor:
            return network.backbone(given)

    learner = SimpleNamespace(
        dataset=SimpleNamespace(N_CLASSES_PER_TASK=2),
        net=Net(),
        old_net=lambda given, **_: teacher.backbone(given),
        lamda_cos_sim=method.config.strength,  # two old and two new classes
        args=SimpleNamespace(k_mr=2, mr_margin=0.5, lamda_mr=1.0),
    )
    expected = parts.Lucir.get_loss(learner, images, labels, 1)
    expected.backward()
    torch.testing.assert_close(value, expected)
    for name, one in network.named_parameters():
        rows = slice(2, None) if name == "head.weight" else slice(None)  # old ones are fixed
        torch.testing.assert_close(ours[name][rows], one.grad[rows], rtol=1e-4, atol=1e-6)
