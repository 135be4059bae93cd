#!/bin/sh
# Fetches Debian packages and unpacks them below a folder, beside those that are there. Nothing is
# installed into the system, and root is not needed.
#
#   sh debian.sh [--again] FOLDER PACKAGE...
#
# Beside the packages asked for come the programs and libraries that they need and the machine
# lacks. FOLDER/.packages has a line for each: a package that is in it is not fetched again. With
# --again what they need is looked for once more: the machine may have lost a library since.
# Ends with 0, with 3 when something cannot be had, or with 130 or 143 when it was interrupted.
# What is in FOLDER is whole at any time.
set -eu

again=
if [ "$1" = --again ]; then
    again=yes
    shift
fi
folder=$1
shift
name=$(basename "$folder")
mkdir -p "$(dirname "$folder")" || exit 3
parent=$(cd "$(dirname "$folder")" && pwd)
folder=$parent/$name
work=

say() { printf 'debian: %s\n' "$*"; }

fail() {
    printf 'debian: %s\n' "$*" >&2
    exit 3
}

fail_with_log() {
    grep -E '^(E|Err|W):' "$work/log" | sort -u | head -n 5 >&2 || true
    fail "$*"
}

kept() { [ ! -f "$folder/.packages" ] || cut -d ' ' -f 1 "$folder/.packages"; }

# Those of the packages given whose needs are to be looked for.
wanted() {
    if [ -n "$again" ]; then
        printf '%s\n' "$@"
    else
        not_kept "$@"
    fi
}

not_kept() {
    kept=$(kept)
    for package in "$@"; do
        printf '%s\n' "$kept" | grep -qxF -e "$package" || printf '%s\n' "$package"
    done
}

# Whether a killed one, or one that still works, has left something.
left() { ls -d "$parent/.$name".?????? >/dev/null 2>&1; }

# Who was killed while it replaced FOLDER may have left it in here: it comes first.
clear_away() {
    for one in "$parent/.$name".??????/old; do
        [ -d "$folder" ] || [ ! -d "$one" ] || mv "$one" "$folder"
    done
    rm -rf "$parent/.$name".??????
}

# A folder for half-finished things, on the same file system as where they end. Two of us would
# lose what the other one adds, so the second waits; what a killed one left is then nobody's.
make_work_folder() {
    exec 9<"$parent"
    flock -n 9 || {
        say "waits for another one that fetches into $parent"
        flock 9
    }
    clear_away
    work=$(mktemp -d "$parent/.$name.XXXXXX")
    trap clear_away EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

# An apt of our own: its lists and its cache are in the work folder, and it believes that nothing is
# installed. So it neither needs root nor touches the system's state.
open_apt() {
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    : >"$work/status"
    cat >"$work/apt.conf" <<END
Dir::State "$work";
Dir::State::lists "lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Debug::NoLocking "true";
APT::Sandbox::User "";
Acquire::Retries "2";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
    # One source of many may be out of order: what counts is whether the packages are found.
    run_apt update >"$work/log" 2>&1 || true
    for list in "$work"/lists/*Packages*; do
        [ -e "$list" ] || fail_with_log 'the lists of packages cannot be fetched: is there a network?'
    done
}

run_apt() { apt-get -q -c "$work/apt.conf" "$@"; }

# Those of the packages given that this system's sources have; the others are named.
known_ones() {
    for package in "$@"; do
        if apt-cache -c "$work/apt.conf" show "$package" >"$work/shown" 2>&1; then
            printf '%s\n' "$package"
        else
            printf 'debian: %s: the package sources of this system do not have it\n' "$package" >&2
            : >"$work/lacks"
        fi
    done
}

# What an installed package brought may have been removed behind dpkg's back.
is_there() {
    grep -qxF -e "$1" "$work/installed" || return 1
    dpkg -L "$1" >"$work/files" 2>/dev/null || return 1
    while IFS= read -r file; do
        case $file in
            */bin/* | */sbin/* | */lib/*) [ -e "$file" ] || [ -h "$file" ] || return 1 ;;
        esac
    done <"$work/files"
}

# A program needs what its package is split into, as pypy3-lib, from the same folder.
is_part_of_asked() {
    while read -r one; do
        case $1 in
            "$one" | "$one"-*) return 0 ;;
        esac
    done <"$work/asked"
    return 1
}

# Scripts and data that are the same on every kind of machine serve an installed system, all but
# those of a library.
is_of_use() {
    case $1 in
        *-perl) return 1 ;;
        lib*) return 0 ;;
    esac
    [ "$2" != all ]
}

packages_to_fetch() {
    dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u \
        >"$work/installed"
    run_apt install --simulate --no-install-recommends "$@" >"$work/plan" 2>>"$work/log" ||
        fail_with_log "cannot be fetched together: $*"
    printf '%s\n' "$@" >"$work/asked"
    sed -n 's/^Inst \([^ ]*\) (.*\[\([a-z0-9]*\)\]).*/\1 \2/p' "$work/plan" >"$work/closure"
    while read -r package architecture; do
        grep -qxF -e "$package" "$work/asked" || is_of_use "$package" "$architecture" || continue
        ! is_part_of_asked "$package" && is_there "$package" || printf '%s\n' "$package"
    done <"$work/closure"
}

# All that FOLDER is to be, as hard links to what it is and the new packages over them.
unpack() {
    mkdir -p "$work/debs" "$work/tree"
    [ ! -d "$folder" ] || cp -al "$folder/." "$work/tree"
    (cd "$work/debs" && run_apt download "$@") >>"$work/log" 2>&1 ||
        fail_with_log "cannot be downloaded: $*"
    cat "$folder/.packages" >"$work/packages" 2>/dev/null || true
    for deb in "$work"/debs/*.deb; do
        dpkg -x "$deb" "$work/tree" >>"$work/log" 2>&1 || fail_with_log "cannot be unpacked: $deb"
        # shellcheck disable=SC2016 # the braces are dpkg's
        dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb" >>"$work/new"
    done
    cat "$work/new" >>"$work/packages"
    rm -f "$work/tree/.packages" # a link to the one that holds
    mv "$work/packages" "$work/tree/.packages"
}

# Between the two there is no folder at all: nobody may interrupt here, and who is killed here has
# left it where the next one finds it.
replace_folder() {
    trap '' INT TERM HUP
    [ ! -d "$folder" ] || mv "$folder" "$work/old"
    mv "$work/tree" "$folder"
    while read -r package version; do
        say "$package $version -> $folder"
    done <"$work/new"
}

if [ -z "$(wanted "$@")" ]; then
    if left && exec 9<"$parent" && flock -n 9; then
        clear_away || true # somebody else's, where we may only read
    fi
    exit 0
fi
for tool in apt-get dpkg; do
    command -v "$tool" >/dev/null ||
        fail "$tool is missing: install by your system's means, and on PATH, what Debian has in: $*"
done
make_work_folder
asked=$(wanted "$@") # another one may have brought them while we waited
[ -n "$asked" ] || exit 0
open_apt
# shellcheck disable=SC2086 # one word a package
asked=$(known_ones $asked)
# shellcheck disable=SC2086 # as above
if [ -n "$asked" ]; then
    names=$(packages_to_fetch $asked)
    new=$(not_kept $names)
    if [ -n "$new" ]; then
        unpack $new
        replace_folder
    fi
fi
[ ! -e "$work/lacks" ] || exit 3
