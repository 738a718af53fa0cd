from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.report.evidence import Evidence
from edgecil.report.page import Report, compose
from tests.estimation.tables import six_classes
from tests.report.made_up import evidence_of, steady, varied, write_run


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two learners on all 90 orders, and the protocols that guess them."""
    methods = {"varied": varied, "steady": steady}
    return write_run(tmp_path_factory.mktemp("runs") / "all", methods)


@pytest.fixture(scope="session")
def report(evidence: Evidence) -> Report:
    return compose(evidence)


@pytest.fixture(scope="session")
def evidence(directory: Path) -> Evidence:
    return evidence_of(directory, six_classes())
