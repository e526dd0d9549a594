#!/bin/sh
# Makes the two environments of the benchmarks, beside this file.
set -eu
cd "$(dirname "$0")"

make_environment() { # folder, requirements
    "${PYTHON:-python3}" -m venv "$1"
    "$1/bin/pip" install --only-binary :all: -r "$2"
    "$1/bin/pip" install -e ..
}

make_environment .venv-bench requirements.txt
make_environment .venv-placo requirements-placo.txt
