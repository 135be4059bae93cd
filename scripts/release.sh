#!/bin/sh
# Builds the wheel and the source distribution of the last commit, twice and in two folders: both
# times the same bytes, or it fails. Nothing is fetched: the build tools are those of uv.lock, in .venv.
#
#   sh scripts/release.sh FOLDER        their place; it is emptied of other releases
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
uv=$(command -v uv || printf '%s\n' "$root/.tools/uv/bin/uv")

fail() {
    printf 'release: %s\n' "$*" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# All files in the archives have the time of the commit.
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
unset VIRTUAL_ENV

for build in first second; do
    mkdir "$work/$build"
    git -C "$root" archive HEAD | tar -x -C "$work/$build"
    "$uv" build --quiet --offline --no-build-isolation --python "$root/.venv/bin/python" \
        --out-dir "$work/dist-$build" "$work/$build"
done
diff -r "$work/dist-first" "$work/dist-second" >&2 || fail 'two builds of one commit differ'

rm -f "$folder"/benchforge_http-*.whl "$folder"/benchforge_http-*.tar.gz
cp "$work"/dist-first/benchforge_http-*.whl "$work"/dist-first/benchforge_http-*.tar.gz "$folder"
cd "$folder"
for file in benchforge_http-*; do
    files=$("$root/.venv/bin/python" -c 'import sys, tarfile, zipfile
name = sys.argv[1]
print(len(zipfile.ZipFile(name).namelist() if name.endswith("l") else tarfile.open(name).getnames()))' "$file")
    printf '%s: %s bytes, %s files, sha256 %s\n' "$file" "$(wc -c <"$file")" "$files" \
        "$(sha256sum "$file" | cut -d ' ' -f 1)"
done
