#!/bin/sh
# Prepares everything that benchforge needs below its own folder: uv, the Python environment, and
# the system programs that the machine lacks. Nothing is installed into the system, no service is
# started and root is not needed.
#
#   sh scripts/setup.sh        what `make run` needs
#   sh scripts/setup.sh dev    what `make test` needs beside that
#
# PYTHON=/path/to/python3 asks for an interpreter.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
tools=$root/.tools
venv=$root/.venv
want=${1:-run}
work=

say() { printf 'setup: %s\n' "$*"; }

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 3
}

# A folder for half-finished things, on the same file system as where they end.
make_work_folder() {
    [ -z "$work" ] || return 0
    mkdir -p "$tools"
    work=$(mktemp -d "$tools/work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# --- Python -----------------------------------------------------------------------------------

# Every file of that name on PATH, not only the first: the first may be a shim that cannot run.
all_on_path() {
    (
        set -f
        IFS=:
        for folder in $PATH; do
            printf '%s\n' "${folder:-.}/$1"
        done
    )
}

python_candidates() {
    [ -z "${PYTHON:-}" ] || command -v "$PYTHON" || true
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        all_on_path "$name"
    done
    for file in "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3.*/bin/python3; do
        printf '%s\n' "$file"
    done
}

# The interpreter itself: uv cannot use a shim.
find_python() {
    python_candidates | while IFS= read -r file; do
        [ -x "$file" ] || continue
        "$file" -c 'import sys; sys.version_info < (3, 11) and sys.exit(1); print(sys.executable)' \
            2>/dev/null </dev/null && break
    done
}

# --- Debian packages, unpacked and not installed ----------------------------------------------

# An apt of our own: its lists and its cache are below .tools, and it believes that nothing is
# installed. So it neither needs root nor touches the system's state, and a package whose files
# were removed behind dpkg's back is fetched like any other.
open_apt() {
    make_work_folder
    [ ! -e "$work/apt" ] || return 0
    if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
        return 1
    fi
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" || return 1
    : >"$work/apt/status"
    cat >"$work/apt/apt.conf" <<END
Dir::State "$work/apt";
Dir::State::lists "lists";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Debug::NoLocking "true";
APT::Sandbox::User "";
Acquire::Retries "2";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
    # One source of many may be out of order: what counts is whether the packages are found.
    run_apt update >"$work/apt/log" 2>&1 || true
}

run_apt() { apt-get -q -c "$work/apt/apt.conf" "$@"; }

# The packages themselves, and of what they depend on the libraries that the machine lacks.
packages_to_fetch() {
    dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u \
        >"$work/installed"
    run_apt install --simulate --no-install-recommends "$@" 2>>"$work/apt/log" |
        sed -n 's/^Inst \([^ ]*\).*/\1/p' >"$work/closure"
    grep -E -e '^(wrk|apache2-utils|python3-pip-whl|postgresql-(client-)?[0-9]+|redis-(server|tools))$' \
        -e '^(nginx(-light)?|virtuoso-opensource-7-bin|pypy3(-lib)?|openssl)$' \
        -e '^(nghttp2-client|siege|hey|hyperfine|httperf)$' "$work/closure" || true
    grep '^lib' "$work/closure" | grep -v -e '-perl$' | grep -vxF -f "$work/installed" || true
}

# fetch FOLDER NAME...: replaces FOLDER by the unpacked packages.
fetch() {
    folder=$1
    shift
    open_apt || return 1
    packages=$(packages_to_fetch "$@")
    [ -n "$packages" ] || return 1
    rm -rf "$work/debs" "$work/tree"
    mkdir -p "$work/debs" "$work/tree/usr/lib"
    ln -s usr/lib "$work/tree/lib" # all libraries in one place, wherever a package puts them
    # shellcheck disable=SC2086 # one word a package
    (cd "$work/debs" && run_apt download $packages) >>"$work/apt/log" 2>&1 || return 1
    for deb in "$work"/debs/*.deb; do
        dpkg -x "$deb" "$work/tree" || return 1
    done
    rm -rf "$folder"
    mv "$work/tree" "$folder" || return 1
    for deb in "$work"/debs/*.deb; do
        # shellcheck disable=SC2016 # the braces are dpkg's
        name=$(dpkg-deb -W --showformat='${Package} ${Version}' "$deb")
        say "$name (Debian package) -> ${folder#"$root/"}"
    done
}

# --- the programs -------------------------------------------------------------------------------

# What is needed, and the Debian package that has it.
programs() {
    cat <<END
wrk wrk
ab apache2-utils
postgresql postgresql
END
    [ "$want" = dev ] || return 0
    cat <<END
redis-server redis-server
redis-cli redis-tools
nginx nginx-light
virtuoso-t virtuoso-opensource-7-bin
isql-vt virtuoso-opensource-7-bin
pypy3 pypy3
openssl openssl
h2load nghttp2-client
siege siege
hey hey
hyperfine hyperfine
httperf httperf
END
}

# Some are for administrators, whose folders are not on everybody's PATH.
find_program() {
    command -v "$1" && return
    for folder in /usr/sbin "$tools"/system/usr/bin "$tools"/system/usr/sbin; do
        if [ -x "$folder/$1" ]; then
            printf '%s\n' "$folder/$1"
            return
        fi
    done
    return 1
}

# Debian keeps PostgreSQL's programs off PATH, one folder a version.
find_postgresql() {
    for folder in /usr/lib/postgresql/*/bin "$tools"/system/usr/lib/postgresql/*/bin; do
        if [ -x "$folder/postgres" ] && [ -x "$folder/initdb" ]; then
            printf '%s\n' "$folder/postgres"
            return
        fi
    done
    command -v initdb >/dev/null && command -v postgres
}

# The Debian packages of the programs that COMMAND, one of the two below, does not find.
packages_missing() {
    programs | while read -r name package; do
        "$1" "$name" >/dev/null || printf '%s\n' "$package"
    done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

anywhere() {
    case $1 in
        postgresql) find_postgresql ;;
        *) find_program "$1" ;;
    esac
}

in_the_system() {
    found=$(anywhere "$1") || return 1
    case $found in
        "$tools"/*) return 1 ;;
    esac
}

# A program that was fetched may still lack a library: then it is no use to anybody.
lacks_libraries() {
    LD_LIBRARY_PATH=$(printf '%s:' "$tools"/system/usr/lib/*-linux-gnu* "$tools/system/usr/lib") \
        ldd "$1" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | tr '\n' ' '
}

setup_programs() {
    missing=$(packages_missing anywhere)
    [ -n "$missing" ] || return 0
    names=$(packages_missing in_the_system)
    advice="programs are missing; install them: apt-get install --no-install-recommends $missing"
    command -v apt-get >/dev/null ||
        advice="programs are missing; install by your system's means, and on PATH: $missing"
    # shellcheck disable=SC2086 # one word a package
    fetch "$tools/system" $names || fail_with_log "$advice"
    [ -z "$(packages_missing anywhere)" ] || fail "$advice"
    programs | while read -r name _; do
        file=$(anywhere "$name")
        in_the_system "$name" >/dev/null || [ -z "$(lacks_libraries "$file")" ] ||
            fail "$file lacks $(lacks_libraries "$file"): $advice"
    done
}

# What apt complained about, then the one line that says what to do.
fail_with_log() {
    [ ! -f "$work/apt/log" ] || grep -E '^(E|Err|W):' "$work/apt/log" | sort -u | head -n 5 >&2
    fail "$*"
}

# --- uv and the environment ---------------------------------------------------------------------

usable_uv() {
    case $("$1" --version 2>/dev/null </dev/null) in
        'uv 0.'[0-7].* | '') return 1 ;; # too old for dependency groups and our lock file, or broken
    esac
}

# pip as a module, or the wheel that Debian keeps for its own use, or that wheel fetched.
pip() {
    if "$python" -m pip --version >/dev/null 2>&1; then
        "$python" -m pip "$@"
        return
    fi
    wheel=$(find_pip_wheel) || {
        fetch "$tools/pip" python3-pip-whl && wheel=$(find_pip_wheel)
    } || return 1
    "$python" "$wheel/pip" "$@"
}

find_pip_wheel() {
    for file in /usr/share/python-wheels/pip-*.whl "$tools"/pip/usr/share/python-wheels/pip-*.whl; do
        [ ! -f "$file" ] || break
    done
    [ -f "$file" ] && printf '%s\n' "$file"
}

setup_uv() {
    for uv in "$(command -v uv || true)" "$tools/uv/bin/uv"; do
        [ -n "$uv" ] && usable_uv "$uv" && return
    done
    make_work_folder
    # A folder of our own is allowed where the system's Python is externally managed (PEP 668).
    PIP_USER=0 pip install --quiet --disable-pip-version-check --no-warn-script-location \
        --only-binary=:all: --target "$work/uv" 'uv>=0.8,<1' 2>"$work/pip.log" || {
        tail -n 3 "$work/pip.log" >&2
        fail 'uv is missing and pip cannot fetch it; install uv, or pip: apt-get install python3-pip'
    }
    rm -rf "$tools/uv"
    mv "$work/uv" "$tools/uv"
    say "$("$uv" --version) (Python package) -> .tools/uv"
}

# uv brings certificates of its own; where the system has some, a proxy's may be among them.
trust_the_system() {
    file=/etc/ssl/certs/ca-certificates.crt
    [ ! -f "$file" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$file}"
}

# An ordinary user without a home has no cache folder.
cache_somewhere() {
    mkdir -p "${UV_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/uv}" 2>/dev/null ||
        export UV_CACHE_DIR="$tools/uv-cache"
}

# A stamp says for what the environment was made.
state() {
    printf '%s\n' "$root"
    cksum "$root/uv.lock" "$root/pyproject.toml"
}

ready() { [ -x "$venv/bin/python" ] && [ "$(cat "$venv/.ready-$1" 2>/dev/null)" = "$(state)" ]; }

# The scripts of an environment hold absolute paths: it does not survive a move of the folder.
remove_moved_environment() {
    [ -f "$venv/.ready-run" ] || return 0
    [ "$(head -n 1 "$venv/.ready-run")" = "$root" ] || rm -rf "$venv"
}

setup_environment() {
    ! ready "$want" || return 0
    python=$(find_python)
    [ -n "$python" ] || fail 'Python 3.11 or newer is missing; install it: apt-get install python3'
    setup_uv
    trust_the_system
    cache_somewhere
    unset VIRTUAL_ENV UV_PROJECT_ENVIRONMENT
    say "Python environment of $python -> .venv"
    if [ "$want" = dev ]; then
        set --
    else
        set -- --no-dev --inexact # what `make test` added may stay
    fi
    remove_moved_environment
    rm -f "$venv/.ready-$want"
    UV_PYTHON_DOWNLOADS=never "$uv" sync --project "$root" --locked --all-extras --no-progress \
        --python "$python" "$@" 2>&1 || fail 'uv could not make .venv: see above'
    state >"$venv/.ready-run"
    [ "$want" = run ] || state >"$venv/.ready-dev"
}

setup_environment
setup_programs
