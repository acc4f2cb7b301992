#!/usr/bin/env bash
# Runs suites again and again on a busy machine: beside loops that compute at the same priority. Tests that wait for a
# time, not for an event, fail there.
#
#   Scripts/lib/under-load.sh ROUNDS FILTER [LOOPS]
#
#   FILTER   a regular expression for swift test --filter; the tests must be built
#   LOOPS    how many loops compute, 8 if not given
#
# Prints a line for each round, and what failed in it. Ends with 1 if anything did. Nothing goes on when the script has
# ended, also by a signal.
set -euo pipefail
cd "$(dirname "$0")/../.."

if (($# < 2)); then
    sed -n '2,/^set/{/^#/p;}' "$0" | cut -c 3- >&2
    exit 2
fi
rounds=$1 filter=$2 loops=${3:-8}
output=$(mktemp)

# shellcheck disable=SC2329
clean_up() {
    # shellcheck disable=SC2046
    kill $(jobs -p) 2>/dev/null || true
    wait
    rm -f "$output"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

for ((loop = 0; loop < loops; loop++)); do
    # Ends also where the script is killed.
    while kill -0 $$ 2>/dev/null; do :; done &
done

failures=0
for ((round = 1; round <= rounds; round++)); do
    start=$SECONDS
    # In the background: a trap waits for the end of a command in the foreground.
    # As many tests at a time as Scripts/test runs: all at once would only starve each other.
    swift test --skip-build --disable-xctest --experimental-maximum-parallelization-width "$(getconf _NPROCESSORS_ONLN)" \
        --filter "$filter" >"$output" 2>&1 &
    if wait $!; then result=passed; else
        result=FAILED
        failures=$((failures + 1))
    fi
    echo "round $round of $rounds $result in $((SECONDS - start)) s: $(grep -o 'Test run with .*' "$output" | tail -1)"
    if [[ $result == FAILED ]]; then grep -E '^✘|↳|rror:|Fatal' "$output" || tail -20 "$output"; fi
done
((failures == 0))
