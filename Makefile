# Everything a person or CI runs. `make demo` and `make test` are all a newcomer needs: they install what is missing.
# What the set-up does is in tools/setup.

PY := .venv/bin/python
# Tests use both cores of a small home server; TEST_PROCESSES=0 runs them in one process, for a debugger.
TEST_PROCESSES ?= 2
# Many tests start the program as a user does: what is compiled once is kept, beside the packages and out of the source folders.
test test-all bench: export PYTHONDONTWRITEBYTECODE =
test test-all bench: export PYTHONPYCACHEPREFIX = $(CURDIR)/.venv/bytecode

.PHONY: help setup setup-tests setup-all-tests setup-lint setup-bench demo run test test-all bench lint format docs schema clean

help:
	@echo "make demo       the whole journey on made-up accounts, no key needed (ARGS=... goes to 'main.py demo')"
	@echo "make run        the program itself, with data/settings.json"
	@echo "make test       all tests but the slow ones, on SQLite and PostgreSQL (ARGS=... goes to pytest)"
	@echo "make test-all   the slow ones too"
	@echo "make bench      what it costs beside something else, in one run (ARGS=... e.g. --only matching --rounds 3)"
	@echo "make lint       style, types, import contracts, generated files"
	@echo "make format     put the code into the style that lint asks for"
	@echo "make schema     write settings.schema.json anew"
	@echo "make docs       write the generated pages of docs/ anew"
	@echo "make setup      only install what the program needs"
	@echo "make clean      remove the virtual environment and all caches"

setup:
	@tools/setup run

setup-tests:
	@tools/setup tests

setup-all-tests:
	@tools/setup all-tests

setup-lint:
	@tools/setup lint

setup-bench:
	@tools/setup bench

demo: setup
	@exec $(PY) main.py demo $(ARGS)

run: setup
	@exec $(PY) main.py run $(ARGS)

test: setup-tests
	@exec $(PY) -m pytest -q -n $(TEST_PROCESSES) --dist worksteal -m "not slow" $(ARGS)

test-all: setup-all-tests
	@exec $(PY) -m pytest -q -n $(TEST_PROCESSES) --dist worksteal $(ARGS)

bench: setup-bench
	@exec $(PY) -m bench $(ARGS)

lint: setup-lint
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-cache --no-logo
	$(PY) -m tools.docs --check

format: setup-lint
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: setup
	$(PY) -m tools.docs

schema: setup
	$(PY) main.py settings-schema > settings.schema.json.new
	mv settings.schema.json.new settings.schema.json

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
