#!/bin/sh
# All of it in the shell: look at a robot, solve, follow a path, a batch, and stop where something is wrong.
# sh 8_shell.sh FOLDER
set -eu
cd "${1:?a folder to work in}"
robot=${2:-panda}

# A field of the one line of JSON that every command prints; jq -r .FIELD does the same.
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

poise doctor "$robot" --json >doctor.json || echo "$(field robot <doctor.json) has findings"
tip=$(poise info "$robot" --json | field tip)

# One pose, with the sentence; exit code 2 is no error: it says that there is no answer.
poise solve "$robot" --xyz 0.4 0.1 0.5 --rpy 3.14159 0 0 --json --explain >solve.json
field explanation <solve.json
if poise solve "$robot" --xyz 4 0 0.5 --json >far.json; then exit 1; else test $? -eq 2; fi
test "$(field status <far.json)" = UNREACHABLE

# An error has a code, words that no option takes too.
if poise solve "$robot" --frame nowhere --xyz 0 0 1 --json >error.json 2>errors.log; then exit 1; fi
grep -q '"code": "FrameNotFound"' error.json

# A line of poses, as a path and as a batch.
echo "x,y,z,roll,pitch,yaw" >line.csv
for y in -0.2 -0.1 0 0.1 0.2; do echo "0.5,$y,0.4,3.14159,0,0" >>line.csv; done
poise path "$robot" line.csv --acceleration 5 -o joints.csv --json --explain >path.json
field explanation <path.json
poise batch "$robot" line.csv -o answers.parquet --json >batch.json
echo "$tip: $(($(wc -l <joints.csv) - 1)) rows, $(field counts <batch.json)"
