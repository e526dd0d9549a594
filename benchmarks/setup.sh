#!/bin/sh
# Makes the three environments of the benchmarks, beside this file.
set -eu
cd "$(dirname "$0")"

make_environment() { # folder, requirements
    "${PYTHON:-python3}" -m venv "$1"
    "$1/bin/pip" install --only-binary :all: -r "$2"
    "$1/bin/pip" install -e .. -e ../packages/poise-carts -e ../packages/poise-compat -e ../packages/poise-experiments -e ../packages/poise-motion
}

make_environment .venv-bench requirements.txt
# The robots of the paths are files in its wheel; what it would import is not needed.
.venv-bench/bin/pip install --only-binary :all: --no-deps jrl==0.0.9
# The same of its climbs.
.venv-bench/bin/pip install --only-binary :all: --no-deps holosoma-retargeting==0.1.0
make_environment .venv-batch requirements-batch.txt
# PyRoki as it is on PyPI; it asks for a viewer's compression too, which has no wheel and which nothing here needs.
.venv-batch/bin/pip install --only-binary :all: --no-deps almond-pyroki==0.1.1 almond-jaxls==0.1.0
make_environment .venv-placo requirements-placo.txt
