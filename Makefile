# make run | install | setup | test | evidence | lowest | integrations | bench | screenshots | constraints
# PORT and HOST are where `make run` listens (an address that others reach is refused without sign-in).
# PYTHON chooses the interpreter (3.11 to 3.14); TORCH_INDEX names an index of CPU wheels for people who want one.
# SEED sets the order of tests (`make test SEED=…` repeats it); WORKERS is one more than there are processors, since
# tests wait for servers, workers and browsers. Each has one thread for linear algebra: several would only wait.
PYTHON ?= python3
TORCH_INDEX ?=
PORT ?= 8501
HOST ?= 127.0.0.1
SEED := $(or $(SEED),$(shell date +%s))
SHUFFLED := --no-loadscope-reorder --random-order --random-order-seed=$(SEED)
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
PACKAGES = import sysconfig; print(sysconfig.get_path("purelib"))
OFFLINE := { echo "Not everything could be installed: is this machine online? The same command goes on from here." >&2; exit 1; }
INDEX := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

.PHONY: run install setup test check browser postgres evidence lowest integrations bench screenshots constraints clean

run: $(VENV)/.app
	$(BIN)/streamlit run app.py --server.port $(PORT) --server.address $(HOST)

install: $(VENV)/.app

setup: $(VENV)/.app $(VENV)/.dev

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || \
	  { echo "Touchstone needs Python 3.11 to 3.14; name one: make run PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "No venv: on Debian/Ubuntu install python3-venv first." >&2; exit 1; }

$(VENV)/.app: requirements.txt | $(VENV)/bin/python
	@echo "Installing Touchstone's packages (a few minutes the first time)"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) # half made, and mended
	@$(PIP) install $(INDEX) -r requirements.txt || $(OFFLINE)
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.app
	@$(PIP) install $(INDEX) -r requirements.txt -r requirements-dev.txt || $(OFFLINE)
	@touch $@

test evidence lowest integrations: export OMP_NUM_THREADS := 1

# Browsers have a run of their own: playwright keeps an event loop open that other tests of the same process would meet.
test: check browser postgres
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile -m "not evidence and not browser" $(SHUFFLED)
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile tests/browser -m "not evidence" $(SHUFFLED)

# What is about the database, of the tests of the workspace; the others are about files and processes.
ON_POSTGRES := $(addprefix tests/workspace/test_,workspace.py owners.py sharing.py sharing_views.py sign_ins.py models.py \
  leases.py runner.py needed.py faults.py damage.py killed_process.py quota.py shares.py defaults.py older_method.py \
  upkeep.py verify.py agenda.py tasks.py training.py expected.py events.py)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright --pythonpath $(BIN)/python

# The browser that drives the pages in tests: found, or installed where we may, or named.
browser:
	@command -v chromium >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update && \
	    apt-get -qq install -y --no-install-recommends chromium >/dev/null; } || \
	  { echo "The browser tests need chromium on the PATH: install it (Debian/Ubuntu: apt install chromium)." >&2; exit 1; }

# The server on which tests of the workspace run once more: found, or installed where we may (without a database that
# starts by itself), or named.
postgres:
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update && \
	    apt-get -qq install -y --no-install-recommends postgresql-common >/dev/null && \
	    echo "create_main_cluster = false" >>/etc/postgresql-common/createcluster.conf && \
	    apt-get -qq install -y --no-install-recommends postgresql >/dev/null; } || \
	  { echo "The database tests need PostgreSQL: install it (Debian/Ubuntu: apt install postgresql)." >&2; exit 1; }

# Shapes are checked by `make test`, on the same code; here that would take a sixth of the time.
evidence: setup browser postgres
	JAXTYPING_DISABLE=1 $(BIN)/python -m pytest tests -m "evidence and not browser" -n $(WORKERS) --dist worksteal -rP
	JAXTYPING_DISABLE=1 $(BIN)/python -m pytest tests/browser -m evidence -n $(WORKERS) --dist loadfile -rP
	JAXTYPING_DISABLE=1 TOUCHSTONE_TEST_DATABASE=postgresql $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(ON_POSTGRES) -m "not browser"

# Reading, comparing, figures and reports with the lowest versions that the package names, in an environment beside ours.
LOWEST := .venv-lowest
LIGHT := $(addprefix tests/,figures report/test_files.py test_public.py test_results.py evaluate/test_intervals.py \
  evaluate/test_matched_subsets.py $(addprefix data/test_,frames.py prediction_layouts.py data_layouts.py tables.py files.py))

lowest: setup
	@test -x $(LOWEST)/bin/python || $(BIN)/python -m venv $(LOWEST)
	@$(abspath $(BIN))/python -c '$(PACKAGES)' > "$$($(LOWEST)/bin/python -c '$(PACKAGES)')/touchstone.pth"
	@$(LOWEST)/bin/python -m pip --disable-pip-version-check -q install --ignore-installed $$($(BIN)/python -m tests.lowest) || $(OFFLINE)
	JAXTYPING_DISABLE=1 $(LOWEST)/bin/python -m pytest -q -n $(WORKERS) --dist loadfile -m "not evidence and not browser" $(LIGHT)

# transformers, Lightning, MLflow and notebooks, in an environment beside ours that sees what ours has.
BESIDE := .venv-integrations

integrations: setup
	@test -x $(BESIDE)/bin/python || $(BIN)/python -m venv $(BESIDE)
	@$(abspath $(BIN))/python -c '$(PACKAGES)' > "$$($(BESIDE)/bin/python -c '$(PACKAGES)')/touchstone.pth"
	@$(BESIDE)/bin/python -m pip --disable-pip-version-check -q install $(INDEX) -r requirements.txt -r requirements-integrations.txt || $(OFFLINE)
	$(BESIDE)/bin/python -m pytest -q tests/integrations

bench: setup
	@for script in benchmarks/bench_*.py benchmarks/case_study_*.py; do echo; $(BIN)/python -m benchmarks.$$(basename $$script .py) || exit 1; done

# The versions that the tests ran with, for who wants the very same: pip install -c constraints.txt …
constraints: setup
	@echo "# The versions that the tests ran with (Python 3.11): pip install -c constraints.txt …; make constraints renews it." > constraints.txt
	@$(BIN)/python -m pip freeze --all --exclude pip --exclude-editable | sed 's/+cpu$$//' >> constraints.txt

screenshots: setup browser
	$(BIN)/python -m benchmarks.screenshots

clean:
	rm -rf $(VENV) $(BESIDE) $(LOWEST)
