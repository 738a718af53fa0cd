"""The docs have a block for everything that `make evidence` measures, and it is filled."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.evidence import (
    END,
    EVIDENCE,
    ROOT,
    print_accuracies,
    print_tables,
    replace_block,
    stamp,
    start_of,
)

from edgecil.cli.main import find_verb, split_command


@pytest.mark.parametrize("name", EVIDENCE)
def test_every_block_has_a_table_and_its_command_a_script(name) -> None:
    page, command = EVIDENCE[name]
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert text.count(start_of(name)) == 1
    block = text.split(start_of(name))[1].split(END)[0]
    assert block.count("\n|") >= 3
    assert block.endswith(f"\n{stamp(name)}\n"), (
        f"The tables changed: run tools/evidence.py {name}."
    )
    parts = split_command(["python", *command.split()])
    if parts is None:
        assert (ROOT / command.split()[0]).is_file()
    else:
        module, words = parts
        assert find_verb(words, module) is not None


@pytest.mark.parametrize(
    ("name", "show"), [("tables", print_tables), ("accuracies", print_accuracies)]
)
def test_the_docs_have_what_the_bundled_tables_give(name, show, capsys) -> None:
    show()
    text = (ROOT / "docs" / EVIDENCE[name][0]).read_text("utf-8")
    assert capsys.readouterr().out in text


def test_only_the_block_of_that_name_is_replaced() -> None:
    page = f"a\n{start_of('x')}\n\nold\n\n<!-- earlier -->\n{END}\nb\n{start_of('y')}\n{END}\n"
    changed = replace_block(page, "x", "new\n")
    assert changed == page.replace("old", "new").replace("<!-- earlier -->", stamp())
    with pytest.raises(SystemExit, match="0 times"):
        replace_block(page, "z", "new")
    assert Path(ROOT / "Makefile").read_text("utf-8").count("tools/evidence.py") == 1
