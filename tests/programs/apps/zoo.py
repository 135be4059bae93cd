"""A WSGI application whose import starts what gets away: a Redis as a daemon, a deaf daemon, a pair."""

import os, pathlib, shlex, subprocess, sys, tempfile

HERE = pathlib.Path(os.environ["ZOO"])
folder = tempfile.mkdtemp(prefix="zoo-")  # in a folder of the test
if redis := os.environ.get("ZOO_REDIS"):
    options = ["--daemonize", "yes", "--port", "0", "--unixsocket", "redis.sock", "--dir", "."]
    subprocess.run(
        [*shlex.split(redis), *options], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
subprocess.run([sys.executable, HERE / "daemon.py", f"{folder}/ready"], check=True)
subprocess.run([sys.executable, HERE / "respawns.py"], check=True)


def app(environ, start):
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
