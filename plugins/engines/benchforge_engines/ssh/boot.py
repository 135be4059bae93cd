"""The first thing on a host: take benchforge's files if they are not there, and become its far end.

This file is sent as a program of the standard library alone, for a Python of any version from 3.8.
"""

import glob
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile


def read(count):
    data = b""
    while len(data) < count:
        more = os.read(0, count - len(data))
        if not more:
            sys.exit(3)
        data += more
    return data


def read_line():
    data = b""
    while not data.endswith(b"\n"):
        data += read(1)
    return data


def tell(**values):
    os.write(1, json.dumps(values).encode() + b"\n")


def main():
    given = json.loads(read_line())
    version = ".".join(map(str, sys.version_info[:3]))
    if list(sys.version_info[:2]) != given["minor"] or os.uname().machine != given["machine"]:
        tell(python=version, machine=os.uname().machine)
        sys.exit(3)
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    home = os.path.join(cache, "benchforge", "far")
    place = os.path.join(
        home, given["digest"] + "-" + hashlib.sha256(f"{base} {version}".encode()).hexdigest()[:8]
    )
    have = os.path.isdir(place)
    tell(python=version, machine=os.uname().machine, have=have)
    if not have:
        put(read(given["size"]), home, place, base, version)
    python = os.path.join(place, "bin", "python")
    os.execv(python, [python, "-I", "-m", "benchforge_engines.far"])


def put(packed, home, place, base, version):
    os.makedirs(home, mode=0o700, exist_ok=True)
    for old in glob.glob(os.path.join(home, "*.half-*")):
        if not os.path.isdir("/proc/" + old.rpartition("-")[2]):
            shutil.rmtree(old, ignore_errors=True)
    half = f"{place}.half-{os.getpid()}"
    site = os.path.join(half, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
    os.makedirs(site, mode=0o700)
    os.mkdir(os.path.join(half, "bin"))
    os.symlink(base, os.path.join(half, "bin", "python"))
    with open(os.path.join(half, "pyvenv.cfg"), "w") as file:
        file.write(
            f"home = {os.path.dirname(base)}\ninclude-system-site-packages = false\nversion = {version}\n"
        )
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        for entry in tar:
            path = os.path.join(site, entry.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(tar.extractfile(entry).read())
            os.chmod(path, entry.mode)
    try:
        os.rename(half, place)
    except OSError:  # another session was faster
        shutil.rmtree(half, ignore_errors=True)


main()
