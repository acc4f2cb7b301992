# shellcheck shell=bash
# What the scripts need of a machine. Sourced, not run.

# Whether a C compiler finds a header. Swift's toolchain brings clang, which looks where Swift will look.
has_header() {
    if command -v clang >/dev/null; then
        clang -E -x c - <<<"#include <$1>" >/dev/null 2>&1
    else
        [[ -e /usr/include/$1 ]]
    fi
}

has_zlib() { has_header zlib.h; }

# Whether commands can be linked with the toolchain's libraries in them; Apple's systems bring these.
has_static_libraries() {
    [[ $(uname) != Darwin && -e $(dirname "$(readlink -f "$(command -v swift)")")/../lib/swift_static ]]
}

has_python() { python3 -c 'import plistlib, zlib' >/dev/null 2>&1; }

# As root, by sudo if need be.
as_root() {
    if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

# Installs packages of Debian and its relatives: install_packages WHAT PACKAGE…
install_packages() {
    local what=$1
    shift
    if ! command -v apt-get >/dev/null; then
        echo "$what is missing, and there is no apt-get to install it with; please install it yourself." >&2
        return 1
    fi
    if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
        echo "$what is missing; please run as root: apt-get install $*" >&2
        return 1
    fi
    echo "$what is missing; installing $*."
    # The list first: an outdated one names packages that are gone.
    if ! as_root apt-get -qq update || ! as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq install --yes --no-install-recommends "$@" >/dev/null; then
        echo "$what could not be installed; see the messages of apt-get above." >&2
        return 1
    fi
}

require_swift() {
    if ! command -v swift >/dev/null; then
        echo "Swift is missing: version 6.3 or later, from https://www.swift.org/install" >&2
        return 1
    fi
}

require_zlib() {
    if [[ $(uname) == Darwin ]]; then
        echo "Nothing is needed on macOS: zlib comes with it."
        return
    fi
    if has_zlib; then return; fi
    install_packages "zlib's header" libz-dev
    if ! has_zlib; then
        echo "zlib's header is still not found after it was installed." >&2
        return 1
    fi
}

# Other readers of the formats judge what is written.
require_python() {
    if has_python; then return; fi
    if [[ $(uname) == Darwin ]]; then
        echo "python3 is missing; please install Xcode's command line tools: xcode-select --install" >&2
        return 1
    fi
    install_packages "python3" python3
    if ! has_python; then
        echo "python3 is still not found, or is incomplete, after it was installed." >&2
        return 1
    fi
}

# Installs packages of PyPI that are missing in a folder of their own, by one call of pip. Who uses them says which tests
# or charts are skipped where they are missing: want_python_packages FOLDER MODULE…
want_python_packages() {
    local folder=$1 name missing=() packages=()
    shift
    export PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH}
    for name in "$@"; do
        if python3 -c "import $name" >/dev/null 2>&1; then continue; fi
        missing+=("$name")
        case $name in
        # Another reader of keyed archives.
        bpylist2) packages+=(bpylist2==4.1.1) ;;
        # Another reader of archives without keys.
        typedstream) packages+=(pytypedstream==0.1.0) ;;
        # Prometheus' own parsers of metrics.
        prometheus_client) packages+=(prometheus_client==0.26.0) ;;
        # The columns of characters.
        wcwidth) packages+=(wcwidth==0.9.4) ;;
        # Draws the benchmarks' charts.
        matplotlib) packages+=(matplotlib==3.10.8) ;;
        # Clients of Redis to measure beside the package's.
        redis) packages+=(redis==8.1.0) ;;
        hiredis) packages+=(hiredis==3.5.0) ;;
        cashews) packages+=(cashews==7.6.0) ;;
        *)
            echo "want_python_packages knows no version of $name." >&2
            return 2
            ;;
        esac
    done
    if ((${#missing[@]} == 0)); then return; fi
    echo "${missing[*]} missing; installing in $folder."
    if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --target "$folder" "${packages[@]}"; then
        echo "Going on without: ${missing[*]}"
    fi
}

# A terminal for tests of the command; the tests say that they are skipped where it is missing.
want_tmux() {
    if command -v tmux >/dev/null || [[ $(uname) == Darwin ]]; then return; fi
    if ! install_packages "tmux" tmux; then
        echo "Going on without: tmux"
    fi
}

# A server for the demo of a shared cache.
require_redis() {
    if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then return; fi
    if [[ $(uname) == Darwin ]]; then
        echo "redis-server is missing; please install it: brew install redis" >&2
        return 1
    fi
    install_packages "redis-server" redis-server
    if ! command -v redis-server >/dev/null; then
        echo "redis-server is still not found after it was installed." >&2
        return 1
    fi
}

# A server for tests of connections, which say that they are skipped where none is.
want_redis() {
    if command -v redis-server valkey-server >/dev/null; then return; fi
    if [[ $(uname) == Darwin ]]; then
        echo "Going on without: redis-server (brew install redis)"
        return
    fi
    if ! install_packages "redis-server" redis-server; then
        echo "Going on without: redis-server"
    fi
}

# OpenSSL's header and command for tests of encrypted connections, which say that they are skipped where it is missing.
want_openssl() {
    if has_header openssl/ssl.h || [[ $(uname) == Darwin ]]; then return; fi
    if ! install_packages "OpenSSL's header" libssl-dev openssl; then
        echo "Going on without: libssl-dev"
    fi
}

# libdeflate's header for the tests of its trait, which say that they are skipped where it is missing.
want_libdeflate() {
    if has_header libdeflate.h || [[ $(uname) == Darwin ]]; then return; fi
    if ! install_packages "libdeflate's header" libdeflate-dev; then
        echo "Going on without: libdeflate-dev"
    fi
}

# A browser for the test of the report's page, which says that it is skipped where none is.
want_chromium() {
    if command -v chromium chromium-browser google-chrome >/dev/null || [[ $(uname) == Darwin ]]; then return; fi
    if ! install_packages "Chromium" chromium; then
        echo "Going on without: Chromium"
    fi
}

# Databases to measure beside the package. Their rows say so where they are missing.
want_databases() {
    local missing=()
    if [[ $(uname) == Darwin ]]; then return; fi
    if ! has_header sqlite3.h; then missing+=(libsqlite3-dev); fi
    if ! has_header lmdb.h; then missing+=(liblmdb-dev); fi
    if ((${#missing[@]} == 0)); then return; fi
    if ! install_packages "What some peers need" "${missing[@]}"; then
        echo "Going on without: ${missing[*]}"
    fi
}
