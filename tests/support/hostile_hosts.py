"""What hosts send: recorded from real ones, and changed as no host of ours would."""

import json
import random
import runpy
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from operator import setitem
from pathlib import Path
from typing import Any

from front_door import PROGRAMS
from hosts_lab import lab, one_server, told_by

from benchforge.run.locate import locate

FAKE = PROGRAMS / "harness/fake_host.py"
BOOT = "boot"
RECORDER = """#!/bin/sh
for word; do label=$last; last=$word; done
tee "{folder}/$label.calls" | {ssh} "$@" | tee "{folder}/$label.answers"
"""
CONTROLS = "\x1b]0;title\x07\x1b[2J\r\n\u202eerror: done\x9b31m\x00"
_STOPS = 0.2
"Share of changes at a depth that has another below it."
WRONG: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 10**30, "", CONTROLS, [], {}, [[]], {"type": "fault"}, "x" * 100_000),
)
"Values of which none fits everywhere."


@dataclass(frozen=True)
class Mutation:
    """What a host sends instead of the answer to a call."""

    host: str
    call: str
    sent: bytes
    what: str


@dataclass(frozen=True)
class Recording:
    """A run on two hosts, and all that these sent."""

    folder: Path
    suite: str

    @property
    def environment(self) -> dict[str, str]:
        """What benchforge's environment has to be, so that it talks to the fake hosts."""
        return {"BENCHFORGE_SSH_COMMAND": shlex.join([sys.executable, str(FAKE), str(self.folder)])}

    def plant(self, mutation: Mutation | None) -> None:
        """Let a fake host send a mutation, or nothing but what was recorded."""
        fields: dict[str, Any] = {"host": None}
        if mutation is not None:
            fields = {**asdict(mutation), "sent": mutation.sent.decode("latin-1")}
        (self.folder / "mutation.json").write_text(json.dumps(fields))

    def changed(self, host: str, call: str, **fields: Any) -> Mutation:
        """Return an answer with other fields; of a trial only those that are named are others."""
        answer = json.loads((self.folder / f"{host}.json").read_text())[call][0]
        trial = answer["value"].get("trial", {}) | fields.pop("trial", {})
        answer["value"] |= fields | ({"trial": trial} if trial else {})
        return Mutation(host, call, _line({**answer, "id": "@ID@"}), "fields")

    def mutation(self, number: int) -> Mutation:
        """Return a mutation of an answer, the same one for a number."""
        chance = random.Random(number)
        host = chance.choice(["load", "app"])
        answers = json.loads((self.folder / f"{host}.json").read_text())
        call = chance.choice([*sorted(answers), *["leave"] * 10])  # its trial has most fields
        subject, sent = mutated(answers[call][0], chance)
        return Mutation(host, call, sent, subject)


def recorded(folder: Path) -> Recording:
    """Run a suite on two real hosts, and keep what these send."""
    folder.mkdir()
    with lab(folder, ("load", "app")) as hosts:
        recorder = folder / "recorder"
        recorder.write_text(RECORDER.format(folder=folder, ssh=locate("ssh")))
        recorder.chmod(0o755)
        suite = one_server(1) + "".join(map(hosts.table, ("load", "app")))
        (folder / "suite.toml").write_text(suite)
        ssh = hosts.environment["BENCHFORGE_SSH_COMMAND"].replace("ssh ", f"{recorder} ", 1)
        environment = {**hosts.environment, "BENCHFORGE_SSH_COMMAND": ssh}
        ran = told_by(environment, folder, "run", "suite.toml")
        assert ran.code in {0, 4}, ran.err
        for label in ("load", "app"):
            (folder / f"{label}.json").write_text(json.dumps(_by_call(folder, label)))
    shutil.rmtree(folder / "results")
    return Recording(folder, suite)


def _by_call(folder: Path, label: str) -> dict[str, list[Any]]:
    """Return a host's answers by the names of the calls."""
    name_of = runpy.run_path(str(FAKE))["name_of"]
    lines = (folder / f"{label}.answers").read_bytes().splitlines()
    boot, *rest = (json.loads(line) for line in lines if line)
    content, _, calls = (folder / f"{label}.calls").read_bytes().partition(b"\n")
    if not boot["have"]:
        calls = calls[json.loads(content)["size"] :]
    by_id = {item["id"]: item for item in map(json.loads, filter(None, calls.splitlines()))}
    answers: dict[str, list[Any]] = {BOOT: [{**boot, "have": True}]}
    for answer in rest:
        answers.setdefault(name_of(by_id[answer["id"]]), []).append(answer)
    return answers


def mutated(answer: Mapping[str, Any], chance: random.Random) -> tuple[str, bytes]:
    """Return a change of an answer in words, and what is sent; @ID@ is the number of the call."""
    change = chance.choice([*_INSIDE, *_INSIDE, _of_the_line, _of_the_frame, _of_the_error])
    fresh = json.loads(json.dumps(answer))  # a change stays in it
    return change({**fresh, "id": "@ID@"} if "id" in fresh else fresh, chance)


def _line(answer: object) -> bytes:
    return json.dumps(answer).replace('"@ID@"', "@ID@").encode("latin-1") + b"\n"


Change = Callable[[dict[str, Any], random.Random], tuple[str, bytes]]


def _changed(
    answer: dict[str, Any], chance: random.Random, change: Callable[[Any, Any], object]
) -> tuple[str, bytes]:
    """Change one place of an answer: at each depth all are as likely, so that none hides others."""
    path, value = "", answer
    while True:
        key = chance.choice([key for key in _keys(value) if key != "id"])
        path = f"{path}.{key}"
        if not _keys(value[key]) or chance.random() < _STOPS:
            change(value, key)
            return path[1:], _line(answer)
        value = value[key]


def _keys(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []


def _inside(label: str, change: Callable[[random.Random, Any, Any], object]) -> Change:
    """Return what changes one place of an answer."""

    def changed(answer: dict[str, Any], chance: random.Random) -> tuple[str, bytes]:
        changes, sent = _changed(answer, chance, partial(change, chance))
        return f"{label}: {changes}", sent

    return changed


def _other_type(chance: random.Random, entries: Any, key: Any) -> None:
    entries[key] = chance.choice([item for item in WRONG if type(item) is not type(entries[key])])


def _more(_: random.Random, entries: Any, key: Any) -> None:
    if isinstance(entries, list):
        entries.extend([entries[key]] * 20_000)
    else:
        entries[f"extra{CONTROLS}"] = CONTROLS


def _controls(_: random.Random, entries: Any, key: Any) -> None:
    entries[key] = f"{entries[key]}{CONTROLS}"


def _strange_number(answer: dict[str, Any], chance: random.Random) -> tuple[str, bytes]:
    """Write what is a number for some readers of JSON."""
    number = chance.choice(["NaN", "-Infinity", "1e999", "9" * 5000, "-0", "1E400", "0x1"])
    changes, sent = _inside(number[:9], lambda _, entries, key: setitem(entries, key, "@NUMBER@"))(
        answer, chance
    )
    return changes, sent.replace(b'"@NUMBER@"', number.encode())


def _deep(answer: dict[str, Any], chance: random.Random) -> tuple[str, bytes]:
    changes, sent = _inside("deep", lambda _, entries, key: setitem(entries, key, "@DEEP@"))(
        answer, chance
    )
    begin, end = chance.choice([(b"[", b"]"), (b'{"a":', b"}")])
    depth = chance.choice([300, 100_000])
    return changes, sent.replace(b'"@DEEP@"', begin * depth + b"1" + end * depth)


_INSIDE: tuple[Change, ...] = (
    _inside("another type", _other_type),
    _inside("missing", lambda _, entries, key: entries.pop(key)),
    _inside("more", _more),
    _inside("control characters", _controls),
    *(_strange_number, _deep),
)


def _of_the_line(answer: dict[str, Any], chance: random.Random) -> tuple[str, bytes]:
    """Send what is no line of JSON, or no object."""
    sent = _line(answer)
    changes = {
        "half": sent[: len(sent) // 2] + b"\n",
        "no JSON": b"\x1b]0;title\x07 Traceback (most recent call last)\n",
        "no UTF-8": sent.replace(b'"', b'"\xff\xfe', 1),
        "null": b"null\n",
        "a list": b"[" + sent.strip() + b"]\n",
        "text": json.dumps(CONTROLS).encode() + b"\n",
        "NUL": b"\0" * 1000 + b"\n",
        "huge": b'{"id": @ID@, "value": "' + b"x" * (1 << 20) + b'"}\n',
        "values": b'{"id": @ID@, "value": [' + b"0," * 1_100_000 + b"0]}\n",
    }
    choice = chance.choice(sorted(changes))
    return f"line: {choice}", changes[choice]


def _of_the_frame(answer: dict[str, Any], chance: random.Random) -> tuple[str, bytes]:
    """Send another number, an answer to nothing, several answers, or none."""
    sent = _line(answer)
    changes = {
        "the number of another call": sent.replace(b"@ID@", b"1"),
        "a later number": sent.replace(b"@ID@", b"999999"),
        "a number as text": sent.replace(b"@ID@", b'"@ID@"'),
        "true as a number": sent.replace(b"@ID@", b"true"),
        "twice": sent + sent,
        "the next one first": sent.replace(b"@ID@", b"@ID@1") + sent,
        "a value and an error": _line({**answer, "error": {"type": "fault", "message": "x"}}),
        "neither": b'{"id": @ID@}\n',
        "lost": _line({"lost": CONTROLS}),
        "lost, as a list": _line({"lost": [1]}),
        "the end": b"\x1b[2J",
    }
    choice = chance.choice(sorted(changes))
    return f"frame: {choice}", changes[choice]


def _of_the_error(answer: dict[str, Any], chance: random.Random) -> tuple[str, bytes]:
    """Send an error: of ours, of nobody's, or a traceback."""
    kinds = ["TrialFailed", "Unusable", "NoAnswer", "CannotKeep", "fault", "SystemExit", CONTROLS]
    kind = chance.choice(kinds)
    trace = f'Traceback (most recent call last):\n  File "{CONTROLS}"\nKeyError: {CONTROLS}'
    error: dict[str, Any] = {"type": kind, "message": trace, "hint": CONTROLS}
    if kind == "TrialFailed":
        error |= {"stage": CONTROLS, "log": trace, "about": "behaviour", "broken": False}
    if chance.random() < 0.5:
        error.pop(chance.choice(sorted(error)))
    frame = {key: value for key, value in answer.items() if key == "id"}
    return f"error: {kind}", _line({**frame, "error": error})
