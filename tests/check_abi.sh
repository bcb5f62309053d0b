#!/usr/bin/env bash
# The public headers against what programs were built with (scripts/abi), and that the comparison
# finds what it is for: each change below is made to a copy of the headers.
# usage: check_abi.sh PATH-TO-consm
set -uo pipefail
# shellcheck source=tests/faults.sh
. "$(dirname "$0")/faults.sh"
command -v python3 > /dev/null || { echo "SKIPPED: the interface's record needs python3"; exit 0; }

scripts/abi || fault "the headers are not what tests/data/abi.txt says"

# changed TEXT SED-EXPRESSION [HEADER]: after that change the comparison must fail with that text.
changed() {
    rm -rf "$work/include"
    cp -r include "$work/include"
    sed -i -E "$2" "$work/include/${3:-consm.h}"
    diff -q include "$work/include" > /dev/null && fault "nothing changes: $2"
    scripts/abi --include "$work/include" > "$work/out" 2>&1 && fault "not found: $2"
    grep -F -- "$1" "$work/out" > /dev/null || fault "$2: expected \"$1\", got: $(cat "$work/out")"
}
changed "BREAKS: function consm_alloc_count is gone" '/consm_alloc_count/d'
changed "BREAKS: function consm_predict was" 's/(const struct consm_dataset \*dataset,) int threads\);/\1 int64_t threads);/'
changed "BREAKS: struct consm_model_info has members" 's/^(    uint64_t seed;)$/    double early;\n\1/'
changed "BREAKS: struct consm_metrics has members" 's/^    double accuracy;/    int64_t accuracy;/'
changed "BREAKS: struct consm_ot_result may not grow" 's/^(    bool converged;.*)/\1\n    double more;/' consm_ot.h
changed "BREAKS: enum CONSM_EINVAL was -2, is -3" 's/CONSM_EINVAL = -2/CONSM_EINVAL = -3/'
changed "NEW: struct consm_method is not recorded" 's/^(    bool weighs;.*)/\1\n    int64_t parameters;/'
changed "NEW: function consm_new is not recorded" 's/^(CONSM_API int consm_version_number.*)/\1\nCONSM_API int consm_new(void);/'

verdict
