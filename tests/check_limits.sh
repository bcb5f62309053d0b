#!/usr/bin/env bash
# A few of the memory limits of scripts/limits: a result or an error, never a hang or a signal.
# usage: check_limits.sh CONSM
set -uo pipefail
if [[ ${BUILD_DIR:-} = *san* ]]; then
    echo "SKIPPED: sanitizers want terabytes of address space"
    exit 0
fi
LIMITS_TO=110 exec "$(dirname "$0")/../scripts/limits" 20 "$1"
