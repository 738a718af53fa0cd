from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edgecil.analysis.analysis import analyze
from edgecil.analysis.answers import Analysis, DatasetAnalysis
from edgecil.report.page import Origin, Page, compose_page
from tests.analysis.tables import six_classes
from tests.report.made_up import steady, varied, write_run


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods on all 90 orders, and the protocols that estimate them."""
    methods = {"varied": varied, "steady": steady}
    return write_run(tmp_path_factory.mktemp("runs") / "all", methods)


@pytest.fixture(scope="session")
def analysis(directory: Path) -> Analysis:
    return analyze(directory, similarity=six_classes())


@pytest.fixture(scope="session")
def dataset(analysis: Analysis) -> DatasetAnalysis:
    return analysis.datasets[0]


@pytest.fixture(scope="session")
def page(dataset: DatasetAnalysis) -> Page:
    (experiment,) = dataset.experiments
    own = replace(dataset, experiments=(replace(experiment, directory="runs/x"),))
    return compose_page(own, Origin(("runs/x",)))
