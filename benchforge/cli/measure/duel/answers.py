"""The answers of the servers of a duel, compared before anything is measured."""

import http.client
import os
import re
import sys
import time
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchforge.checks.answers.alike import differences, kind
from benchforge.cli.console.say import say
from benchforge.cli.measure.duel.suite import FirstLoad, first_load
from benchforge.cli.measure.serve.server import serving
from benchforge.errors import NoAnswer, ProgramMissing, TrialFailed
from benchforge.model.trial.answers.answer import Answer, body_difference
from benchforge.parts.part import Server
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.http.request import OVER_TLS, HttpAnswer, ask
from benchforge.run.locate import missing
from benchforge.run.programs.needed import left_out
from benchforge.run.trial.context import (
    TrialContext,
    ground,
    locate_programs,
    needs_of,
    with_runtimes,
)
from benchforge.suite.cases.case import Case
from benchforge.suite.cases.expand import expand
from benchforge.suite.cases.parts import distinct_parts
from benchforge.suite.suite import SAFE, Suite
from benchforge.suite.toml.document import Tables
from benchforge.text.readable import conjoined, exact

_FEWEST, _MOST, _WITHIN_S = 2, 20, 0.5  # requests, and for how long others than the fewest
_START = "try the command in this folder, with a number instead of {port}"
_SERVER_ERROR = re.compile(r"got 5\d\d\b")
_REFUSED = re.compile(r"got (400|405|411|415|422)\b")
_NO_MODULE = re.compile(r"No module named '?([\w.]+)")


class FirstAnswer(NamedTuple):
    """What a server answered to some equal requests."""

    answer: Answer
    body: bytes
    repeats: bool
    "True if all bodies are the same."
    seconds: float
    "Time of the fastest answer: others waited for the machine, or for a first connection."
    start_s: float
    "Time from the start of the server until it was ready, in seconds."
    keeps: bool = True
    "True if it keeps the connection for another request."
    forms: frozenset[tuple[str, int]] = frozenset()
    "Content type and length in bytes of each answer."
    load: FirstLoad = FirstLoad()


def first_answers(suite: Suite, add_path: str, *, loads: bool) -> dict[str, FirstAnswer]:
    """Start each server of a suite once, send its request some times, and stop it.

    With `loads` it also has a short load. `add_path` says how another path is named. Raises
    TrialFailed where one does not start or its answer is wrong, and what `ground` raises.
    """
    parts = distinct_parts(suite)
    context = with_runtimes(ground(suite, parts), suite, parts, say)
    cases = [*expand(suite)]
    if suite.backends:  # the first start may fill them: a start later on takes less time
        cases = [cases[0], *cases]
    return {case.name.server: _first_answer(case, context, add_path, loads) for case in cases}


def check_programs(suite: Suite) -> None:
    """Raise ProgramMissing for what is not there; its hint has a name that is nearly the same."""
    needs, folder = needs_of(distinct_parts(suite)), suite.path.parent
    try:
        locate_programs(needs, folder)
    except ProgramMissing as error:
        places = [*map(Path, os.get_exec_path()), Path(sys.executable).parent]
        on_path = {file.name for folder in places for file in folder.glob("*")}
        names = [need.name for need in missing(needs, folder)]
        near = [match for name in names for match in get_close_matches(name, on_path, 1)]
        # A virtual environment is seldom on PATH.
        of_venvs = [str(path) for name in names for path in sorted(Path().glob(f"*/bin/{name}"))]
        if of_venvs or near:
            error.hint = f"did you mean {conjoined(of_venvs or near)}? {error.hint}"
        raise


def compare(answers: Mapping[str, FirstAnswer]) -> str:
    """Return in what the bodies differ, for a person; empty where all are the same.

    Raises NoAnswer where statuses or content types differ: a comparison of these is invalid.
    """
    if faults := list(differences([(value.answer, None) for value in answers.values()])):
        kinds = ", ".join(
            f"{label}: {answer.answer.status} {kind(answer.answer)}"
            for label, answer in answers.items()
        )
        hint = "compare servers that send the same; benchforge has measured nothing"
        raise NoAnswer(f"the servers answer differently: {'; '.join(faults)} ({kinds})", hint)
    (first, right), *others = answers.items()
    for label, other in others:
        if difference := body_difference(right.body, other.body):
            return f"{label} does not answer as {first} does: {difference}"
    changing = [label for label, answer in answers.items() if not answer.repeats]
    return f"{changing[0]} sent two different bodies for the same request" if changing else ""


def agreed(answers: Mapping[str, FirstAnswer], method: str) -> tuple[Tables, str]:
    """Return what first answers and their repeats agree in, as keys of `expect`, and in words.

    Without equal bodies no length is written: those of the answers on both sides of a load bind.
    """
    first = next(iter(answers.values())).answer
    types, lengths = zip(*(form for value in answers.values() for form in value.forms), strict=True)
    right: Tables = {"content_type": kind(first)} if {*types} == {kind(first)} != {"none"} else {}
    words = ["status", *(["type"] if right else [])]
    if not compare(answers):
        right["same_body"] = True
        words = words if method == "HEAD" else ["body"]
    elif method in SAFE and len({*lengths}) == 1:
        words.append("length")
    rest = "" if words == ["body"] else ", not by its body"
    return right, f"the {conjoined(words)} of the first answer{rest}"


def alike(answers: Mapping[str, FirstAnswer]) -> str:
    """Return in words what all servers answered, where that is the same."""
    answer = next(iter(answers.values())).answer
    return f"all answer alike: {answer.status}, {kind(answer)}, {exact(answer.length)} bytes"


def closing(answers: Mapping[str, FirstAnswer]) -> str:
    """Return which servers close connections and which keep them; empty if all are alike."""
    closes = [label for label, answer in answers.items() if not answer.keeps]
    keeps = [label for label, answer in answers.items() if answer.keeps]
    if not closes or not keeps:
        return ""
    verbs = ("closes" if len(closes) == 1 else "close", "keeps" if len(keeps) == 1 else "keep")
    return (
        f"{conjoined(closes)} {verbs[0]} each connection, {conjoined(keeps)} {verbs[1]} them: "
        "so that all do the same work, each request gets a connection of its own; "
        "--keep-alive measures the servers as they are"
    )


def _first_answer(case: Case, context: TrialContext, add_path: str, loads: bool) -> FirstAnswer:
    with scratch_folder() as folder:
        began = time.perf_counter()
        try:
            with serving(case, context, folder, {}) as served:
                sandbox, probe = served.scope.sandbox, served.answering.probe
                replies: list[HttpAnswer] = []
                ends = [time.perf_counter()]
                while len(replies) < _FEWEST or (
                    len(replies) < _MOST and ends[-1] - ends[0] < _WITHIN_S
                ):
                    replies.append(ask(sandbox, probe))
                    ends.append(time.perf_counter())
                last = ask(sandbox, probe, keep_alive=True).answer
                load = first_load(served) if loads else FirstLoad()
        except TrialFailed as error:
            for line in error.log.splitlines():
                say(f"  | {line}")
            error.hint = _hint(error, case.server, add_path)
            raise
        except (OSError, http.client.HTTPException) as error:
            message = f"{case.name.server}: answered a request, and not the next one: {error}"
            raise NoAnswer(message, "see how the server ends") from error
    first, *others = replies
    seconds = min(end - begin for begin, end in pairwise(ends))
    repeats = all(answer.body == first.body for answer in others)
    forms = frozenset((kind(reply.answer), reply.answer.length) for reply in replies)
    times = seconds, ends[0] - began
    return FirstAnswer(first.answer, first.body, repeats, *times, _keeps(last), forms, load)


def _keeps(answer: Answer) -> bool:
    """Whether the server keeps the connection: HTTP/1.0 closes it without a header."""
    words = answer.headers.get("connection", "").lower()
    return "keep-alive" in words if answer.version == "HTTP/1.0" else "close" not in words


def _hint(error: TrialFailed, server: Server, add_path: str) -> str:
    if hint := _unreceived(error, server):
        return hint
    if lacks := _NO_MODULE.search(f"{error}\n{error.log}"):
        return (
            f"{lacks[1]} is neither in the folder in which you started duel, nor installed for the "
            "Python of this command: change to its folder, or correct the name"
        )
    if "no answer within" in str(error):
        return "see the server's log; something listens there: is it HTTP, and not HTTPS?"
    if _SERVER_ERROR.search(str(error)):
        return "its log says why; if it needs a database: --backend postgresql:DATASET"
    if _REFUSED.search(str(error)):
        return f"{add_path}, or change the request by --header, --body and --method"
    right = f"{add_path}, or name the right status with --expect-status"
    return error.hint or {"ask": right, "start": _START}.get(error.stage, "")


def _unreceived(error: TrialFailed, server: Server) -> str:
    """Return what to do about a command without a variable, or one that speaks TLS; else ""."""
    if variable := left_out(f"{error}\n{error.log}", server):
        return f"the command does not receive your {variable}: add --env {variable}"
    if OVER_TLS in str(error) and not server.outside():
        table = "with tls = true in the table of the server"
        return f"write a suite, {table}: benchforge new suite bench"
    return ""
