#!/usr/bin/env bash
# Trains the small models of tests/data/models, one for each thing that a model file can hold. tests/test_model_formats.c
# reads them. Recorded files stay as they are, because later versions must read them: use this only to add a model. It was
# run with consm 0.1.0 and XGBoost's plug-in. `build/release/test_model_formats --record NAME` records what a model predicts.
# usage: tests/data/make_models.sh COMMAND NAME…     e.g. tests/data/make_models.sh build/release/consm 1_network
set -euo pipefail
consm=$(realpath "${1:?usage: tests/data/make_models.sh COMMAND NAME…}")
shift
cd "$(dirname "$0")/models"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
small=(--hidden 4 --threads 1 --quiet)
rounds=("${small[@]}" --warmup 8 --rounds 1 --gnn-steps 4 --match-steps 10 --match-width 4 --match-hidden 4)
for name; do
    case $name in
    1_network) options=(-m gcn --epochs 20 --coverage 0.8 --threshold-for member --at-precision 0.5 "${small[@]}") ;;
    1_forest) options=(-m trees --epochs 4 --tree-depth 3 --threads 1 --quiet) ;;
    1_consm) options=(-m consm --backbone gcn --drop-share 0.2 "${rounds[@]}") ;;
    2_ensemble) options=(-m gin --ensemble 4 --epochs 20 "${small[@]}") ;;
    3_trees) options=(-m consm --candidates few --with-trees yes --drop-share 0 --tree-depth 2 "${rounds[@]}") ;;
    4_companions) options=(-m consm --candidates all --drop-share 0 --with-trees no --per-class 4 "${rounds[@]}") ;;
    5_clean) options=(-m consm --candidates all --with-trees no --per-class 4 --seed 2 "${rounds[@]}") ;; # by a consm of then
    6_answers) options=(-m consm --candidates all --with-trees no --per-class 4 --seed 2 "${rounds[@]}") ;;
    *) echo "make_models: no model is called $name" >&2; exit 2 ;;
    esac
    [ ! -e "$name.safetensors" ] || { echo "make_models: $name.safetensors exists" >&2; exit 1; }
    "$consm" train graph "${options[@]}" -o "$out/$name"
    cp "$out/$name/model.safetensors" "$name.safetensors"
    echo "$name: $(grep -ao 'consm model [0-9]*' "$name.safetensors"), $(stat -c %s "$name.safetensors") bytes"
done
