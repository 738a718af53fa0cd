"""Every LaTeX table and PDF figure compiles, whatever the names are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from edgecil.paper.paper_tables import paper_tables
from edgecil.report.page import Page
from edgecil.report.table import as_latex
from tests.analysis.tables import six_classes
from tests.report.made_up import page_of, steady, varied, write_run
from tests.report.test_page import HOSTILE

PDFLATEX = shutil.which("pdflatex")

NAMES = ("<script>", '"', "a'b`c", "$c_1$ & d", "[e] *", "50 % ~^\\{}#")


def has_package(name: str) -> bool:
    found = subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True, check=False)
    return found.returncode == 0


needs_latex = pytest.mark.skipif(
    PDFLATEX is None or not has_package("booktabs"),
    reason="pdflatex or the package booktabs is not installed",
)


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> Path:
    """An experiment whose classes and methods have names that LaTeX could take for commands."""
    shares = dict(zip(HOSTILE, (steady, varied, steady, varied, steady), strict=True))
    return write_run(
        tmp_path_factory.mktemp("odd") / "odd", shares, ("edge", "random", "enumerate"), names=NAMES
    )


@pytest.fixture(scope="module")
def page(odd: Path) -> Page:
    return page_of(odd, six_classes())


def compile_latex(
    body: str, folder: Path, packages: str = "\\usepackage{amssymb,booktabs,longtable,graphicx}"
) -> str:
    """The log of pdflatex on a document with the packages that the tables name."""
    (folder / "all.tex").write_text(
        f"\\documentclass{{article}}{packages}\\begin{{document}}\n{body}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [str(PDFLATEX), "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=folder,
        capture_output=True,
        timeout=300,
        check=False,
    )
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log[-2000:]
    return log


@needs_latex
@pytest.mark.slow
def test_every_table_and_figure_compiles(page: Page, tmp_path: Path) -> None:
    parts = [as_latex(table) + "\\clearpage" for table in page.tables]
    for figure, kinds in page.figures:
        for name, content in figure.files(kinds):
            if name.endswith(".pdf"):
                plain = name.replace(".column.pdf", "-column.pdf")
                (tmp_path / plain).write_bytes(content)
                parts.append(f"\\includegraphics[width=\\columnwidth]{{{plain}}}\\clearpage")
    log = compile_latex("\n".join(parts), tmp_path)
    assert "Missing character" not in log
    overfull = [
        float(width)
        for width in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\) in paragraph", log)
    ]
    assert max(overfull, default=0.0) <= 15.0, overfull  # 15: the indent of a figure
    pages = int(log.rsplit("Output written on all.pdf (", 1)[1].split(" page")[0])
    assert pages >= len(parts)


@needs_latex
@pytest.mark.slow
def test_the_paper_s_tables_compile(odd: Path, tmp_path: Path) -> None:
    if not has_package("multirow"):
        pytest.skip("the package multirow is not installed")
    tables = paper_tables(odd)
    packages = "\n".join({text.splitlines()[0].removeprefix("% ") for text in tables.values()})
    log = compile_latex("\n".join(tables.values()), tmp_path, packages)
    assert "Missing character" not in log
