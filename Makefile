# What a newcomer and the checks run. Everything happens in .venv, which is made once and again when
# pyproject.toml changes. Needed: make, Python 3.11 or newer with pip, and for the first run a network.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check

# The first python that is new enough; `make PYTHON=/path/to/python3.12 …` chooses another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	echo $$python; break; fi; done)

# Whatever lies in benchmarks/ but the demo, its data, the soak and what benchmarks share.
BENCHES = $(filter-out benchmarks/_% benchmarks/demo.py benchmarks/transactions.py benchmarks/soak.py, \
	$(wildcard benchmarks/*.py))

# Python's own choice, whatever the shell says: else each of the hundreds of processes that the tests
# start compiles all of kbd once more.
export PYTHONDONTWRITEBYTECODE :=

# The longer tiers draw the examples of property tests anew; SEED=… draws those of another run.
ifndef SEED
SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif
ANEW = --hypothesis-profile=anew --hypothesis-seed=$(SEED)

# The rules of the sources themselves. They are tests of the second tier, too.
HOUSE := tests/test_house.py tests/test_steady_sources.py tests/test_opened_paths.py

.PHONY: help demo test test-full soak lint bench clean

help:
	@echo "make demo       install into .venv and watch kbd do a job on a sample file"
	@echo "make test       the tests, in at most 4 minutes"
	@echo "make test-full  the tests on both event loops and on all samples, in at most 40 minutes"
	@echo "make soak       kills, floods, every byte of a file, a daemon at work for two hours; hours"
	@echo "make lint       style, types and the floors of the house"
	@echo "make bench      what kbd costs, against the raw limits and against peers"
	@echo "make clean      remove .venv, caches and what the demo made"

demo: $(VENV)/.installed
	@$(BIN)/python -m benchmarks.demo

# Where the first tier writes: tests wait for a disk thousands of times, for memory never. What a disk
# does they prove by disks of their own making. Needed are 4 GB, and that programs may be run there.
MEMORY = $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print $$6}')
SCRATCH = $(if $(shell grep -s '^[^ ]* $(MEMORY) ' /proc/mounts | grep -v noexec),$(MEMORY),$${TMPDIR:-/tmp})

# A file stays in one process, so that what a module sets up is set up once. One process more than a
# small machine has cores: the tests that wait for a child leave room for it. Files begin in the order
# of tests/conftest.py, the longest first; xdist would begin those with most tests first.
test: $(VENV)/.dev
	@scratch=$$(mktemp -d "$(SCRATCH)/kbd-XXXXXX") && trap 'rm -rf "$$scratch"' EXIT INT TERM && \
	TMPDIR="$$scratch" \
	$(BIN)/pytest -q -n 3 --dist loadfile --no-loadscope-reorder -m "not full and not soak"

# A test alone may go to another process: the samples of one file take minutes. With TESTED=1, said
# where `make lint` and `make test` have just passed, it runs of the first tier only what draws its
# examples (a mark of the plugin of hypothesis), for it draws others.
ifdef TESTED
FULL := -m "(full or hypothesis) and not soak" $(HOUSE:%=--ignore=%)
else
FULL := -m "not soak"
endif
test-full: $(VENV)/.dev
	$(BIN)/pytest -q -n 3 --dist worksteal $(FULL) --timeout 900 $(ANEW)

# Kills and floods have the machine to themselves.
soak: $(VENV)/.dev
	$(BIN)/pytest -q -m soak --timeout 3600 $(ANEW)
	$(BIN)/python benchmarks/soak.py

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q $(HOUSE)

bench: $(VENV)/.bench
	@failed=0; for bench in $(BENCHES); do \
	echo "== $$bench"; $(BIN)/python $$bench || failed=1; done; exit $$failed

clean:
	rm -rf $(VENV) dist demo-out .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "kbd needs Python 3.11 or newer; found: $$(python3 --version 2>&1)." >&2; \
	echo "Install one, or name it: make PYTHON=/path/to/python3.12 demo" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	echo "$(PYTHON) cannot make a virtual environment (on Debian: apt install python3-venv)." >&2; \
	rm -rf $(VENV); exit 1; }
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.made
	@echo "Installing kbd into $(VENV) (once; about 20 s)…"
	@$(PIP) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.made
	@echo "Installing kbd and its development tools into $(VENV) (once)…"
	@$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.bench: pyproject.toml | $(VENV)/.made
	@echo "Installing kbd and the peers it is measured against into $(VENV) (once)…"
	@$(PIP) -e '.[dev,bench]'
	@touch $@ $(VENV)/.dev $(VENV)/.installed
