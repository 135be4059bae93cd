#!/bin/sh
# Prepares everything that benchforge needs below its own folder: uv, the Python environment, and
# the system programs that the machine lacks. Nothing is installed into the system, no service is
# started and root is not needed.
#
#   sh scripts/setup.sh        what `make run` needs
#   sh scripts/setup.sh dev    what `make test` needs beside that
#   sh scripts/setup.sh dev environment    the Python environment alone, or: programs
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

# fetch [--again] FOLDER NAME...: adds the unpacked packages to FOLDER.
fetch() { sh "$root/benchforge/cli/machine/doctor/debian.sh" "$@"; }

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
sshd openssh-server
h2load nghttp2-client
siege siege
hey hey
hyperfine hyperfine
httperf httperf
chromium-headless-shell chromium-headless-shell
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

anywhere() {
    case $1 in
        postgresql) find_postgresql ;;
        *) find_program "$1" ;;
    esac
}

# The Debian packages of the programs that are nowhere, or that cannot start.
packages_needed() {
    {
        programs | while read -r name package; do
            anywhere "$name" >/dev/null || printf '%s\n' "$package"
        done
        broken_programs | sed 's/ .*//'
    } | as_words
}

as_words() { sort -u | tr '\n' ' ' | sed 's/ $//'; }

# The files of a program that was fetched; of one that the system has, none.
files_fetched() {
    file=$(anywhere "$1") || return 0
    case $file in
        "$tools"/*/postgres) printf '%s\n' "$file" "${file%postgres}initdb" "${file%postgres}psql" ;;
        "$tools"/*) printf '%s\n' "$file" ;;
    esac
}

# A program that was fetched may still lack a library: then it is no use to anybody. Debian's older
# packages put their libraries below /lib.
libraries_lacking() {
    LD_LIBRARY_PATH=$(printf '%s:' "$tools"/system/usr/lib/*-linux-gnu* "$tools/system/usr/lib" \
        "$tools"/system/lib/*-linux-gnu* "$tools/system/lib") \
        ldd "$1" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | as_words
}

# "PACKAGE FILE LIBRARY..." for each fetched program that cannot start.
broken_programs() {
    programs | while read -r name package; do
        files_fetched "$name" | while read -r file; do
            lacking=$(libraries_lacking "$file")
            [ -z "$lacking" ] || printf '%s %s %s\n' "$package" "$file" "$lacking"
        done
    done
}

# What fetched programs lack, then what to do.
fail_with_lacking() {
    broken_programs | while read -r _ file lacking; do
        printf 'setup: %s lacks %s\n' "$file" "$lacking" >&2
    done
    fail "$*"
}

setup_programs() {
    needed=$(packages_needed)
    [ -n "$needed" ] || return 0
    what='programs are missing, or cannot start'
    command -v apt-get >/dev/null ||
        fail_with_lacking "$what; install by your system's means, and on PATH: $needed"
    advice="$what; install them: apt-get install --no-install-recommends $needed"
    # shellcheck disable=SC2086 # one word a package
    fetch --again "$tools/system" $needed || fail_with_lacking "$advice"
    [ -z "$(packages_needed)" ] || fail_with_lacking "$advice"
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
        --only-binary=:all: --target "$work/uv" --require-hashes -r "$root/scripts/uv.txt" 2>"$work/pip.log" || {
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
    # Compiled once and here: where PYTHONDONTWRITEBYTECODE is set, each start would compile anew what
    # it imports, which takes longer than all else that `check` does.
    UV_PYTHON_DOWNLOADS=never "$uv" sync --project "$root" --locked --all-extras --no-progress \
        --compile-bytecode --python "$python" "$@" 2>&1 || fail 'uv could not make .venv: see above'
    "$venv/bin/python" -m compileall -q "$root/benchforge" "$root/plugins" || true
    state >"$venv/.ready-run"
    [ "$want" = run ] || state >"$venv/.ready-dev"
}

case ${2:-all} in
    environment) setup_environment ;;
    programs) setup_programs ;;
    all)
        setup_environment
        setup_programs
        ;;
    *) fail "what to prepare is environment or programs, and not: $2" ;;
esac
