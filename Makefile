# Two commands do all the set-up: `make demo` and `make test`. Each makes or completes .venv with the
# versions pinned in constraints.txt; a second run skips what is there already.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint types benchmark clean

demo: $(VENV)/.train
	$(BIN)/edgecil run --config recipes/demo.toml --out demo
	$(BIN)/edgecil report demo

test: lint types
	$(BIN)/python -m pytest -n logical --dist worksteal

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

benchmark: $(VENV)/.dev
	$(BIN)/python benchmarks/light_core.py
	$(BIN)/python benchmarks/training.py

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "edgecil needs Python 3.10 or newer; run: make PYTHON=/path/to/python3")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.train: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[train]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.train

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
