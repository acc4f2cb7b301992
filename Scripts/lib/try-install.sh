#!/usr/bin/env bash
# Installs the command in new directories and removes it, by the script and as a package of Debian.
#
#   Scripts/lib/try-install.sh COMMAND
#
# COMMAND is built already. The package is installed in this machine for a moment, if that may be done.
set -euo pipefail
binary=$(readlink -f "$1")
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "installing: $1" >&2
    exit 1
}

# The files below a folder: files FOLDER
files() { (cd "$1" && find . ! -type d | sort); }

prefix="$work/a prefix"
Scripts/install --prefix "$prefix" --binary "$binary" >"$work/log"
pages=$("$prefix/bin/typed-cache" help | sed -n '/^subcommands:/,/^options:/s/^  \([a-z]\+\) .*/\1/p' | wc -l)
if (($(files "$prefix" | wc -l) != pages + 5)); then fail "not the expected files: $(files "$prefix")"; fi
if ! bash -n "$prefix/share/bash-completion/completions/typed-cache"; then fail "bash cannot read its completions"; fi
# Over itself, as a later version is installed; and a file that is somebody else's.
Scripts/install --prefix "$prefix" --binary "$binary" >"$work/log"
touch "$prefix/bin/other"
Scripts/uninstall --prefix "$prefix" >"$work/log"
if [[ $(files "$prefix") != ./bin/other ]]; then fail "left behind: $(files "$prefix")"; fi
if Scripts/uninstall --prefix "$prefix" 2>"$work/log"; then fail "uninstall finds what is not there"; fi
grep -q "is not installed in" "$work/log" || fail "no reason: $(cat "$work/log")"
# Directories of the system stay, also empty ones; new ones are for all users.
prefix=$work/system
folders=(bin share/man/man1 share/bash-completion/completions share/zsh/site-functions)
for folder in "${folders[@]}"; do mkdir -p "$prefix/$folder"; done
(umask 077 && Scripts/install --prefix "$prefix" --binary "$binary" >"$work/log")
if closed=$(find "$prefix" -type d ! -perm -755 | grep .); then fail "closed to other users: $closed"; fi
Scripts/uninstall --prefix "$prefix" >"$work/log"
for folder in "${folders[@]}"; do [[ -d $prefix/$folder ]] || fail "uninstall removes the directory $folder"; done
DESTDIR=$work/stage Scripts/install --prefix /opt/x --binary "$binary" >"$work/log"
[[ -x $work/stage/opt/x/bin/typed-cache ]] || fail "DESTDIR is not respected"
for bad in "--prefix" "--prefix /dev/null --binary $binary" "--prefix $work/none --binary /dev/null" "--nonsense"; do
    # shellcheck disable=SC2086
    if Scripts/install $bad >"$work/log" 2>&1; then fail "$bad is taken"; fi
    grep -q "^Scripts/install: .*\.$" "$work/log" || fail "$bad: no sentence: $(cat "$work/log")"
done
echo "  Scripts/install leaves what it should, and nothing behind"

if ! command -v dpkg-deb >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
    echo "skipped: this machine makes no packages of Debian"
    exit
fi
# A command that is linked with libraries of no package cannot be packed, and the script says so.
if ! package=$(Scripts/deb --output "$work" --binary "$binary" 2>"$work/log"); then
    grep -q "in no package" "$work/log" || fail "no package: $(cat "$work/log")"
    echo "skipped: the command is linked with the toolchain's libraries, which are in no package"
    exit
fi
dpkg-deb --field "$package" Package Version Architecture Installed-Size Depends
if [[ $(id -u) != 0 ]] || dpkg --status typed-cache >/dev/null 2>&1; then
    echo "skipped: the package cannot be tried here"
    exit
fi
# Another program may be installing something.
installed=
for _ in {1..20}; do
    if dpkg --install "$package" >"$work/log" 2>&1; then
        installed=yes
        break
    fi
    grep -q lock "$work/log" || fail "$(cat "$work/log")"
    sleep 1
done
if [[ -z $installed ]]; then
    echo "skipped: another program is installing packages"
    exit
fi
[[ $(/usr/bin/typed-cache --version) == "$("$binary" --version)" ]] || fail "the package's command does not run"
listed=$(dpkg --listfiles typed-cache)
dpkg --purge typed-cache >"$work/log"
while read -r file; do
    if [[ -f $file ]]; then fail "the package leaves $file behind"; fi
done <<<"$listed"
echo "  the package is installed and removed"
