# Sets up a virtual environment in .venv and runs everything in it. On a Debian or Ubuntu whose
# Python comes without venv, the package that has it is installed first (with sudo if need be).

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test slow bench mutants lint types chromium clean

demo: $(VENV)/installed ## the three protocols of the paper's table; the last one is broken
	$(BIN)/antecede check mfss --actors 3 --messages 2
	@echo
	$(BIN)/antecede check cykas --actors 3 --messages 2
	@echo
	$(BIN)/antecede check cykas-secret-mode --actors 3 --messages 2 --expect violated

test: $(VENV)/installed-dev chromium
	$(BIN)/python -m pytest

slow: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m slow

bench: $(VENV)/installed
	$(BIN)/python benchmarks/run.py

mutants: $(VENV)/installed-dev ## would the checks notice? writes docs/mutants.md
	$(BIN)/python -m tests.mutants.run

chromium: ## for the tests in a browser; where it cannot be installed, they are skipped
	@[ -n "$$CHROMIUM" ] || command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  echo 'Chromium is missing; installing it'; \
	  $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends chromium; \
	} || echo 'Chromium cannot be installed; the tests in a browser will be skipped'

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/installed: pyproject.toml | $(BIN)/pip
	$(PIP) install --quiet --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/pip
	$(PIP) install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/installed

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'Python 3.11 or newer is needed; name one: make PYTHON=python3.12 ...'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
	  echo "Python's venv is missing; installing $$package"; \
	  $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq $$package; }
	$(PYTHON) -m venv $(VENV)
