# The daily brief. Needs git, make (GNU) and Python 3.11 or newer (with venv); everything else goes into .venv/.
.POSIX:
.SUFFIXES:
.PHONY: run test faults lint format lock screenshots clean

VENV = .venv
BIN = $(VENV)/bin
# One process more than there are cores, since tests also wait for servers and browsers; five at most.
PYTEST = $(BIN)/python -m pytest --dist loadgroup -n "$$($(BIN)/python -c 'import os; print(min(5, 1 + (os.cpu_count() or 1)))')"
# Tests start many processes; where writing bytecode is switched off, each would compile the whole program anew.
export PYTHONDONTWRITEBYTECODE =
PIP = $(BIN)/python -m pip --disable-pip-version-check --quiet install
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

# Ctrl-C reaches every process of the terminal's foreground group, and a make that gets it can only end as
# "interrupted". So the program takes the foreground for itself, stops when told to, and make ends as it ended: with 0.
define FOREGROUND
import os, signal, sys
try:
    if os.tcgetpgrp(0) == os.getpgrp():
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
except OSError:
    pass # started without a terminal
os.execv(sys.argv[1], sys.argv[1:])
endef
export FOREGROUND

run: $(VENV)/.runtime
	@exec $(BIN)/python -c "$$FOREGROUND" $(BIN)/digest run

test: $(VENV)/.development
	$(PYTEST)

# A morning of 20,000 subscribers while 100 things are killed, then again with the broker emptied. FAULTS="--seed 7"
faults: $(VENV)/.development
	$(BIN)/python -m tests.faults $(FAULTS)
	$(BIN)/python -m tests.faults --flush $(FAULTS)

lint: $(VENV)/.development
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.development
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Newer versions, where pyproject.toml allows them: make lock UPGRADE=--upgrade
lock: $(VENV)/.python
	$(PIP) uv
	$(COMPILE) $(UPGRADE) --group dev pyproject.toml --output-file requirements.lock
	$(COMPILE) $(UPGRADE) --group build --constraint requirements.lock pyproject.toml --output-file requirements-runtime.lock
	$(COMPILE) $(UPGRADE) --group build --all-extras --constraint requirements.lock pyproject.toml --output-file requirements-extras.lock

screenshots: $(VENV)/.development
	$(BIN)/python tests/screenshots.py
	$(BIN)/python -m tests.page_pictures
	$(BIN)/python -m tests.staff_pictures

clean:
	rm -rf $(VENV)

# The stamps: each is newer than what it was made from, so a second time nothing is installed and no network needed.
$(VENV)/.python:
	@for name in python3.13 python3.12 python3.11 python3; do \
		"$$name" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		echo "Making $(VENV)/ with $$name"; \
		"$$name" -m venv --clear $(VENV) && touch $@ && exit 0; \
	done; \
	echo "No Python 3.11 or newer with venv found: install one (Debian, Ubuntu: apt install python3-venv)." >&2; exit 1

$(VENV)/.runtime: $(VENV)/.python requirements-runtime.lock pyproject.toml
	@echo "Installing what the program needs (about half a minute, once)"
	@$(PIP) --no-deps --require-hashes -r requirements-runtime.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.development: $(VENV)/.python requirements.lock pyproject.toml
	@echo "Installing what the tests need (about a minute, once)"
	@$(PIP) --no-deps --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@
