# shellcheck shell=bash
# Runs commands side by side. Sourced, not run; the directory is the package's.

# Runs a command beside those that follow, in a process group of its own, which ends with the script: beside NAME COMMAND …
# Afterwards joined NAME prints its output and returns its status.
beside() {
    local name=$1
    shift
    mkdir -p .build/beside
    # Job control gives it the process group.
    set -m
    "$@" >".build/beside/$name" 2>&1 &
    set +m
    printf -v "process_$name" %s $!
}

joined() {
    local variable=process_$1 status=0
    wait "${!variable}" || status=$?
    cat ".build/beside/$1"
    return "$status"
}

end_processes() {
    local process
    for process in $(jobs -p); do kill -- "-$process" 2>/dev/null || true; done
}
trap end_processes EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
