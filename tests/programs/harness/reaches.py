"""A trial on a machine with sockets and files: `reaches.py FOLDER` prints what its program reached.

The folder is this user's. TOKEN in the environment is a secret of benchforge.
"""

import contextlib, json, os, socket, sys
from pathlib import Path
from benchforge.parts.command import Command
from benchforge.run.sandbox.host import LocalHost, Wishes

PROGRAM = """
import glob, json, os, socket, subprocess, sys
connects, writes = json.loads(sys.argv[1])
reached, machine = {}, connects["machine"]
for name, address in connects.items():
    with socket.socket(socket.AF_UNIX) as mine:
        reached[name] = mine.connect_ex(address) == 0
for name, folder in writes.items():
    try:
        with open(folder + "/file", "a") as file:
            file.write("planted")
        reached[name] = True
    except OSError:
        reached[name] = False
connects = "import socket, sys; mine = socket.socket(socket.AF_UNIX); "
connects += "sys.exit(7 * (mine.connect_ex(sys.argv[-1]) == 0))"
undo = 'umount "$2"; mount -o remount,bind,rw /; echo planted >> "$3/file"; exec "$0" -c "$1" "" "$2"'
words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", undo, sys.executable]
words += [connects, machine, writes["home"]]
undone = subprocess.run(words, check=False, stderr=subprocess.DEVNULL)
reached["machine after all is unmounted"] = undone.returncode == 7
reached["temporary"] = os.environ["TMPDIR"]
reached["secret"] = False
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        with open(path, "rb") as file:
            reached["secret"] |= b"TOKEN=" in file.read()
    except OSError:
        pass
try:
    os.makedirs("/dev/shm/a"), os.rmdir("/dev/shm/a")
except OSError as error:
    reached["shared_memory"] = str(error)
print(json.dumps(reached))
"""

folder = Path(sys.argv[1])
folders = {name: folder / name for name in ("trial", "scratch", "app", "named", "home", "sockets")}
for path in folders.values():
    path.mkdir()
    (path / "file").touch()


def listens(address: str) -> str:
    mine = machine.enter_context(socket.socket(socket.AF_UNIX))
    mine.bind(address)
    mine.listen()
    return address


with contextlib.ExitStack() as machine:
    addresses = {name: listens(str(folder / name)) for name in ("machine", "bound as")}
    addresses["renamed"] = str(Path(addresses.pop("bound as")).rename(folder / "renamed"))
    addresses["abstract"] = listens(f"\0benchforge test {os.getpid()}")
    addresses["named socket"] = listens(str(folders["sockets"] / "of suite"))
    wishes = Wishes(
        scratch=folders["scratch"],
        sockets=[folders["sockets"]],
        writes=[folders["named"]],
        copied=[folders["app"]],
    )
    with LocalHost().trial(folders["trial"], wishes=wishes) as sandbox:
        addresses["late"] = listens(str(folder / "late"))
        words = {name: address.replace("\0", "@") for name, address in addresses.items()}
        writes = {name: str(path) for name, path in folders.items()}
        program = PROGRAM.replace("(address)", '(address.replace("@", chr(0)))')
        command = Command(sys.executable, "-c", program, json.dumps([words, writes]))
        finished = sandbox.run("reaches", command, folders["trial"], {}, 60)
        sandbox.note_late_sockets()
        print(finished.stderr.read_text(), file=sys.stderr)
        mode = sandbox.mode
    changed = [name for name, path in folders.items() if (path / "file").read_text()]
    reached = json.loads(finished.stdout.read_text())
    with socket.socket(socket.AF_UNIX) as mine:  # it is only covered inside
        mine.connect(addresses["machine"])
print(json.dumps([reached, changed, mode.files, mode.sockets, mode.weaker]))
