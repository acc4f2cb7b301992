#!/usr/bin/env bash
# Shows a cache that machines share: three masters with a replica each, on this machine, hold 34,006 cities; four
# processes read them; one changes a city, and the others see it; a process that makes a value is killed, and another one
# makes it; the servers are full for a while; a master is killed, and all goes on. Run by Scripts/demo shared. Everything is in a folder of the demo's own, and ends with it, also by Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=

# The numbers of the processes that a process has started: children_of PROCESS
children_of() {
    if [[ -d /proc/self ]]; then
        awk -v parent="$1" '$4 == parent { print $1 }' /proc/[0-9]*/stat 2>/dev/null || true
    else
        pgrep -P "$1" || true
    fi
}

# Ends all processes that were started, and those that the fleet has started itself, which are in groups of their own.
# Another Ctrl-C changes nothing.
clean_up() {
    trap '' INT TERM HUP
    trap - EXIT
    # The shell tells of each job that was killed, as it would of a crash.
    {
        # By the shell's own list: a signal may come between a start and the next command.
        for process in $(jobs -p); do
            # Stopped, it starts no more.
            kill -STOP "$process" || true
            # shellcheck disable=SC2046
            kill -9 $(children_of "$process") "$process" || true
        done
        wait || true
    } 2>/dev/null
    if [[ -n $work ]]; then rm -rf "$work"; fi
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
# shellcheck source=requirements.sh
source Scripts/lib/requirements.sh
require_swift
require_zlib
require_python
require_redis

work=$(mktemp -d)

say() { printf '\n%s\n' "$*"; }

run() {
    say "\$ $*"
    "$@"
}

# Starts a server and waits until it listens: start PORT [OPTION …]
start() {
    mkdir -p "$work/$1"
    # Replicas are given all that there is at once, not five seconds after they ask.
    redis-server --port "$1" --bind 127.0.0.1 --dir "$work/$1" --save "" --appendonly no --logfile log \
        --repl-diskless-sync-delay 0 "${@:2}" &
    for _ in {1..100}; do
        if redis-cli -p "$1" ping >/dev/null 2>&1; then return; fi
        if ! kill -0 $! 2>/dev/null; then break; fi
        sleep 0.05
    done
    echo "redis-server does not start at port $1:" >&2
    cat "$work/$1/log" >&2
    return 1
}

# Waits until a command succeeds, at most for 30 s: wait_until WHAT COMMAND …
wait_until() {
    local what=$1 end=$((SECONDS + 30))
    shift
    until "$@"; do
        if ((SECONDS > end)); then
            echo "$what: not within 30 s." >&2
            return 1
        fi
        sleep 0.1
    done
}

cities=${TYPED_CACHE_CITIES:-}
if [[ -z $cities ]]; then
    say "Of the cities, 500 are here; 34,006 are made of them. TYPED_CACHE_CITIES may name the whole file."
    cities=$work/cities.ndjson
    python3 -c '
import json, sys
lines = [json.loads(line) for line in open("Examples/Data/cities.ndjson")]
for number in range(34_006):
    city = dict(lines[number % len(lines)])
    if number >= len(lines):
        city["geonameid"] = 20_000_000 + number
    print(json.dumps(city, ensure_ascii=False, separators=(",", ":")))
' >"$cities"
fi

run swift build --disable-build-manifest-caching -c release --product typed-cache
run swift build --package-path Examples --scratch-path .build --disable-build-manifest-caching -c release --product fleet
PATH=$PWD/.build/release:$PATH

# The ports of a cluster's nodes among themselves are 10,000 higher.
first=$((17000 + RANDOM % 4000))
is_whole() {
    local port
    for port in "${ports[@]}"; do
        redis-cli -p "$port" cluster info | grep -q '^cluster_state:ok' || return 1
    done
    [[ $(redis-cli -p "$first" cluster nodes | grep -c 'slave') == 3 ]]
}
show_nodes() {
    redis-cli -p "$1" cluster nodes | awk '{ print "  " $2, $3 }' | sed 's/@[^ ]*//; s/myself,//' | sort
}
say "Three masters, and a replica of each:"
ports=()
for number in {0..5}; do
    ports+=($((first + number)))
    start $((first + number)) --cluster-enabled yes --cluster-node-timeout 1000
done
redis-cli --cluster create "${ports[@]/#/127.0.0.1:}" --cluster-replicas 1 --cluster-yes >"$work/create.log"
wait_until "the cluster" is_whole
show_nodes "$first"
server="redis+cluster://127.0.0.1:$first,127.0.0.1:$((first + 1)),127.0.0.1:$((first + 2))/?prefix=demo"

export TYPED_CACHE_SHARED=$server
say "\$ export TYPED_CACHE_SHARED='$server'"
run typed-cache warm "$cities" --cache cities --key geonameid --type fleet.City
run typed-cache get 1850147 --cache cities
run typed-cache stats --cache cities

# The port of the master of a key's slot: master_of KEY
master_of() {
    local slot
    slot=$(redis-cli -p "$first" cluster keyslot "{$1}")
    redis-cli -p "$first" cluster nodes | awk -v slot="$slot" '
        $3 ~ /master/ {
            for (field = 9; field <= NF; field++) {
                split($field, range, "-")
                if (slot >= range[1] + 0 && slot <= (range[2] == "" ? range[1] : range[2]) + 0) {
                    split($2, address, /[:@]/)
                    print address[2]
                }
            }
        }'
}

say "\$ fleet \"\$TYPED_CACHE_SHARED\" $cities"
mkfifo "$work/input"
fleet "$server" "$cities" <"$work/input" > >(tee "$work/output") &
fleet=$!
exec 7>"$work/input"
# How often it has asked for return.
asked() { cat "$work/output" 2>/dev/null | grep -c 'Press return' || true; }
waits() { (($(asked) >= $1)) || ! kill -0 "$fleet" 2>/dev/null; }

# Sets the memory that each node may use, with which it refuses writes above it: set_memory BYTES
set_memory() {
    local port
    for port in "${ports[@]}"; do redis-cli -p "$port" config set maxmemory "$1" >/dev/null; done
}
wait_until "the first part" waits 1
if (($(asked) < 1)); then exit 1; fi
say "\$ redis-cli config set maxmemory 1    # on each server"
set_memory 1
echo >&7

wait_until "the second part" waits 2
if (($(asked) < 2)); then exit 1; fi
set_memory 0

port=$(master_of 1850147)
# Changes that the replica has not received would be lost; one that has not received all of them once takes no place.
has_replica() { [[ $(redis-cli -p "$port" wait 1 1000) == 1 ]]; }
wait_until "the replica of the server at port $port" has_replica
process=$(redis-cli -p "$port" info server | sed -n 's/^process_id:\([0-9]*\).*/\1/p')
say "The server that has Tokyo, at port $port, is killed:"
echo "\$ kill -9 $process"
# Waited for here, the shell does not tell of its end.
{
    kill -9 "$process"
    wait "$process" || true
} 2>/dev/null
echo >&7
wait "$fleet"
exec 7>&-

say "The cluster now:"
show_nodes "$((port == first ? first + 1 : first))"
