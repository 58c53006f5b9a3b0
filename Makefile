# Sets up a virtual environment in .venv and runs everything in it. On a Debian or Ubuntu whose
# Python comes without venv, the package that has it is installed first (with sudo if need be).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
INSTALL = $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends $(1)
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test integration ready slow bench mutants code-mutants notebooks random soak lint types site chromium plantuml graphviz spin clean

demo: $(VENV)/installed-spark ## the three protocols of the paper's table, one also on Spark; the last one is broken
	$(BIN)/antecede check mfss --actors 3 --messages 2
	@echo
	$(BIN)/antecede check cykas --actors 3 --messages 2
	@echo
	$(BIN)/antecede check cykas-secret-mode --actors 3 --messages 2 --expect violated
	@echo
	@echo 'Now Cykas on Spark, with two worker processes: the counts must equal those of Cykas above.'
	$(BIN)/antecede check cykas --actors 3 --messages 2 --engine spark --master 'local[2,4]' --spark-threshold 100

PYTEST := $(BIN)/python -m pytest
SIDE_BY_SIDE := -n auto --maxprocesses 4 --dist loadfile # a file's tests stay together

test: ready ## everything that is cheap, and one test of each costly kind: at most ten minutes on two cores
	$(PYTEST) $(SIDE_BY_SIDE) -m '(smoke or not integration) and not slow'

integration: ready ## Spark, browsers, processes, signals, campaigns: what `make test` leaves out
	$(PYTEST) $(SIDE_BY_SIDE) -m 'integration and not smoke and not slow'

slow: ready ## minutes to an hour each
	$(PYTEST) -m slow --timeout 7200

ready: $(VENV)/installed-dev chromium plantuml graphviz spin ## all that the tests need

bench: $(VENV)/installed
	$(BIN)/python benchmarks/run.py

mutants: $(VENV)/installed-dev ## would the checks notice? writes docs/mutants.md
	$(BIN)/python -m tests.mutants.run

code-mutants: ready ## would the tests notice bugs in the checker? over night; MUTANTS=300 and a SEED
	$(BIN)/python -m tests.mutants.code --mutants $(or $(MUTANTS),300) $(if $(SEED),--seed $(SEED))

notebooks: $(VENV)/installed-dev ## removes the outputs, which the site has
	$(BIN)/python -m tests.notebooks

chromium: ## for the tests in a browser; where it cannot be installed, they are skipped
	@[ -n "$$CHROMIUM" ] || command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  echo 'Chromium is not installed; it is being installed now.'; $(call INSTALL,chromium); \
	} || echo 'Chromium could not be installed, so the tests in a browser will be skipped.'

plantuml: ## for the tests that let PlantUML draw; where it cannot be installed, they are skipped
	@command -v plantuml >/dev/null || { \
	  echo 'PlantUML is not installed; it is being installed now.'; $(call INSTALL,plantuml); \
	} || echo 'PlantUML could not be installed, so the tests that let it draw will be skipped.'

spin: ## for the tests that check exported systems again; where it cannot be installed, they are skipped
	@command -v spin >/dev/null || { \
	  echo 'Spin is not installed; it is being installed now.'; $(call INSTALL,spin); \
	} || echo 'Spin could not be installed, so the tests that check exported systems again will be skipped.'

graphviz: ## for the tests that let Graphviz draw; where it cannot be installed, they are skipped
	@command -v dot >/dev/null || { \
	  echo 'Graphviz is not installed; it is being installed now.'; $(call INSTALL,graphviz); \
	} || echo 'Graphviz could not be installed, so the tests that let it draw will be skipped.'

random: $(VENV)/installed-dev ## do all ways to explore agree? SECONDS=600 by default, and a SEED
	$(BIN)/python -m tests.campaigns.random --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED))

soak: $(VENV)/installed-dev ## kills, fuzz, interruptions, full disks, little memory; SECONDS and SEED
	$(BIN)/python -m tests.campaigns.soak --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.prose

types: $(VENV)/installed-dev
	$(BIN)/mypy

site: $(VENV)/installed-dev ## the documentation as pages, in build/site; every link is checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

clean:
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/installed: pyproject.toml | $(BIN)/pip
	$(PIP) install --quiet --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/pip
	$(PIP) install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/installed $(VENV)/installed-spark

$(VENV)/installed-spark: pyproject.toml | $(BIN)/pip ## with Spark and Java
	$(PIP) install --quiet --editable '.[spark]'
	@touch $@ $(VENV)/installed

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'Python 3.11 or newer is needed. Name one: make PYTHON=python3.12 ...'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	  echo "Python's venv is not installed; $$package is being installed now."; \
	  $(call INSTALL,$$package); }
	$(PYTHON) -m venv $(VENV)
