# `make demo` and `make test` do all the set-up: each creates or completes .venv with the versions
# pinned in constraints.txt, and skips what is installed already.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Three quarters of the installed modules are never imported: Python compiles the others at first use.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# Tests start hundreds of processes, which would compile the package every time without bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick suite slow foreign training lowest newest attack lint types oldest docs tutorial wheel benchmark parity evidence ecosystem clean

demo: $(VENV)/.train
	$(BIN)/edgecil run --config recipe:demo --out demo
	$(BIN)/edgecil report demo

# Types and docs are checked beside the tests, which do not use all cores all the time.
test: lint
	$(MAKE) --no-print-directory --jobs=2 suite types oldest docs

suite: $(VENV)/.compiled
	$(BIN)/python -m pytest -n logical --dist worksteal

# The inner loop: everything that is not marked slow, or measured to be so by `make slow`.
quick: $(VENV)/.compiled
	$(BIN)/python -m pytest -n logical --dist worksteal -m "not slow"

# Long attacks: many kills, flipped bits and hostile files, with counts.
attack: $(VENV)/.dev
	EDGECIL_ATTACK=1 $(BIN)/python -m pytest tests/attacks -n 0 -s

slow: $(VENV)/.compiled
	$(BIN)/python -m pytest -n logical --dist worksteal --store-slow

# As on other machines: processors with other kernels, another time zone and locale, a user without
# a home, one core. Each runs the whole suite; `make foreign MACHINE="sse avx512"` only these.
foreign: $(VENV)/.compiled
	$(BIN)/python tools/foreign.py $(MACHINE)

# Only tests that train, as on a processor without AVX.
training: $(VENV)/.compiled
	$(BIN)/python tools/foreign.py sse --training

# The lowest versions that pyproject.toml declares, and the newest that exist, without the pins: 6 GB
# each, because these wheels of torch are for CUDA. Packages of other ages warn of each other, so
# warnings are no errors here.
OTHER_VERSIONS := -p no:cacheprovider -p no:anyio -o filterwarnings=default -n logical --dist worksteal
USED_EXTRAS := train,clip,hf,ray,llm,timm
TEST_TOOLS := hypothesis ipython psutil pytest pytest-timeout pytest-xdist selenium tensorboard

lowest: .venv-lowest/.installed
	.venv-lowest/bin/python -m pytest $(OTHER_VERSIONS)

# Newer versions of pyarrow, which datasets uses, require NumPy 2 without saying so to an installer.
.venv-lowest/.installed: pyproject.toml | .venv-lowest/bin/uv
	$(word 1,$|) pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable '.[$(USED_EXTRAS)]'
	$(word 1,$|) pip install --quiet --python .venv-lowest/bin/python $(TEST_TOOLS) 'pyarrow<20'
	touch $@

# Upgrades what it finds: the newest versions are other ones tomorrow.
newest: .venv-newest/bin/uv
	$< pip install --quiet --python .venv-newest/bin/python --upgrade --editable '.[$(USED_EXTRAS)]' $(TEST_TOOLS)
	.venv-newest/bin/python -m pytest $(OTHER_VERSIONS)

.venv-lowest/bin/uv .venv-newest/bin/uv: .venv-%/bin/uv:
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check uv

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy

# The oldest Python that is supported.
oldest: $(VENV)/.dev
	$(BIN)/mypy --python-version 3.10 --no-warn-return-any

# The site goes to site/; a broken link or an unknown name in the API reference is an error.
docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Executes the notebook and stores its outputs, which the site shows.
tutorial: $(VENV)/.dev
	$(BIN)/python tools/refresh_tutorial.py

wheel: $(VENV)/bin/python
	$(PIP) build
	$(BIN)/python -m build

benchmark: $(VENV)/.dev
	$(BIN)/python benchmarks/light_core.py
	$(BIN)/python benchmarks/training.py

# Measures what the docs quote from the bundled truth tables again, and writes it into the docs;
# then runs the twins of the paper's experiments, an hour of two cores.
evidence: $(VENV)/.dev
	$(BIN)/python tools/evidence.py
	$(BIN)/python tools/twins.py runs/twins

# Our learners beside those of your own checkout of PyCIL, PILOT, FeCAM, ACIL or Mammoth: make parity TOOLBOX=~/PyCIL
parity: $(VENV)/.dev
	@test -f "$(TOOLBOX)/trainer.py" || test -d "$(TOOLBOX)/models" || { echo "Set TOOLBOX to a checkout of PyCIL, PILOT, FeCAM, ACIL or Mammoth: make parity TOOLBOX=PATH. Got: $(TOOLBOX)"; exit 2; }
	EDGECIL_TOOLBOX="$(abspath $(TOOLBOX))" $(BIN)/python -m pytest -n 0 -s -q tests/parity

# The pip that comes with older Pythons takes twice as long to choose wheels.
$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "edgecil requires Python 3.10 or newer; run: make PYTHON=/path/to/python3")'
	$(PYTHON) -m venv $(VENV)
	@$(PIP) 'pip>=25'

$(VENV)/.train: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[train]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.train

# Each worker of pytest would compile the modules that the tests import for itself.
$(VENV)/.compiled: $(VENV)/.dev
	$(BIN)/python -m pytest --collect-only -q -n 0 > $@.log || { cat $@.log; exit 1; }
	@touch $@

# The real torchvision, timm, transformers, datasets, Avalanche and Continuum, without the pinned
# versions: ten minutes and 6 GB the first time. Not part of `make test`.
ecosystem: .venv-ecosystem/.installed
	.venv-ecosystem/bin/python -m pytest -q -p no:cacheprovider tests/ecosystem

.venv-ecosystem/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-ecosystem
	.venv-ecosystem/bin/python -m pip install --quiet -e '.[train,clip,hf,timm]' torchvision avalanche-lib continuum six pytest pytest-timeout hypothesis
	touch $@

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest demo site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
