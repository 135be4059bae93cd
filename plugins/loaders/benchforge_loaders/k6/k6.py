"""k6: virtual users in JavaScript, in a closed loop or at a rate of arrivals."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import Field, JsonValue, PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Load,
    Output,
    Rate,
    Reading,
    Request,
    Target,
    WrongOption,
)
from benchforge.plugin.load_tools import Program, Timed, WholeSeconds, ended_well, parsing
from benchforge_loaders.k6.report import STATS, K6Summary

SCRIPT, MIX = (Path(__file__).with_name(name) for name in ("k6.js", "mix.js"))
_REASON = re.compile(r'msg="benchforge take: ((?:[^"\\]|\\.)*)" source=console')
# What Python takes for a pattern, and JavaScript for another, or for none.
_PYTHON_ONLY = re.compile(r"\(\?(?![:=!])|\\[AZaNU]|[*+?}]\+|\[\^?\]|\{,")


class K6(Program, Timed):
    """k6: each user sends its next request after the last response, or at a rate.

    Good to know:

    - With a rate, k6 drops an arrival that finds no idle user and counts it as
      `dropped_iterations`. Latencies count from the send, so an overloaded server looks as fast as
      it answers. Believe them only if no arrival was dropped.
    - Latencies include lost requests.
    - k6 silently repeats a request whose connection was closed.
    - JavaScript costs CPU time: one core sends about 13 000 requests per second.
    - Of a mix, each iteration makes the next request of the stream, or the next flow with all of
      its requests. Only a flow keeps the cookies of its answers. k6 reports no bytes of a kind.
    - By default k6 sends usage statistics to its makers. benchforge turns that off.
    """

    name: ClassVar[str] = "k6"
    install: ClassVar[str] = "go install go.k6.io/k6@latest, or a package of grafana.com/docs/k6"
    asks_version: ClassVar[str] = "version"
    tells_kinds: ClassVar[bool] = True
    proved: ClassVar[Literal["run", "recordings"]] = "recordings"

    users: PositiveInt = 10
    "Number of virtual users. With a rate, their maximum."
    rate: Rate | None = Field(default=None, ge=1)
    "Arrivals per second, a whole number. Default: a closed loop."
    timeout: WholeSeconds = Duration(10)
    "Time limit of one request in whole seconds."
    keep_alive: bool = True
    "Reuse of a connection for the next request."

    @model_validator(mode="after")
    def _whole_rate(self) -> Self:
        if self.rate is not None and not self.rate.is_integer():
            msg = f"k6 takes a whole number of arrivals a second, not {self.rate}"
            raise WrongOption(msg, "rate")
        return self

    def load(self) -> Load:
        """Return what it is told to do; over TLS it may speak HTTP/2."""
        return super().load().model_copy(update={"protocol": None})

    def files(self, target: Target) -> Mapping[str, str]:
        """Return what the script is told."""
        settings = {
            **(_request(target) if target.stream is None else self._mix(target)),
            "timeout": f"{self.timeout}s",
            "keep_alive": self.keep_alive,
            "scenario": self._scenario(),
            "stats": STATS,
            "statuses": sorted(HTTPStatus),
        }
        return {f"k6-{target.phase}.json": json.dumps(settings, indent=2) + "\n"}

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command."""
        environment = {
            "BENCHFORGE_K6": str(target.folder / f"k6-{target.phase}.json"),
            "BENCHFORGE_K6_OUT": str(target.folder / _summary(target)),
        }
        return [
            Command(
                target.programs["k6"],
                *("run", "--quiet", "--no-usage-report", "--no-color", "--address", ""),
                SCRIPT if target.stream is None else MIX,
                environment=environment,
            )
        ]

    def read(self, output: Output) -> Reading:
        """Return the summary that the script wrote.

        Raises OutputDamaged when k6 failed, and when the summary is not whole.
        """
        ended_well("k6", output)
        name = _summary(output.target)
        with parsing(name, "k6 1.x is known to work"):
            reading = K6Summary.from_json(output.file(name)).reading(output.target.kinds)
        reasons = sorted(set(_REASON.findall(output.stderr)))
        if not reasons:
            return reading
        return reading.model_copy(update={"printed": {**reading.printed, "reasons": reasons}})

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        """Return nothing: an iteration of a user makes the next request of the stream."""
        return ""

    def why_no_flows(self, takes: Sequence[str]) -> str:
        """Return the pattern that JavaScript takes otherwise; empty without one."""
        patterns = [take for take in takes if take.startswith("regex:")]
        wrong = next((one for one in patterns if _PYTHON_ONLY.search(one)), None)
        return "" if wrong is None else f"has patterns of JavaScript, and none such as {wrong!r}"

    def _mix(self, target: Target) -> dict[str, JsonValue]:
        """Return what our script for a mix reads."""
        flows = target.flows is not None and target.flows.is_file()
        return {
            "root": target.root,
            "stream": str(target.stream),
            "index": str(target.index),
            "flows": str(target.flows) if flows else None,
            "kinds": list(target.kinds),
            "duration_s": float(self.duration),
        }

    def _scenario(self) -> dict[str, JsonValue]:
        ending = {"duration": f"{self.duration}s", "gracefulStop": f"{self.timeout}s"}
        if self.rate is None:
            return {"executor": "constant-vus", "vus": self.users, **ending}
        return {
            "executor": "constant-arrival-rate",
            "rate": int(self.rate),
            "timeUnit": "1s",
            "preAllocatedVUs": self.users,
            "maxVUs": self.users,
            **ending,
        }


def _request(target: Target) -> dict[str, JsonValue]:
    """Return the one request that our other script sends."""
    request = target.request
    return {
        "method": request.method,
        "url": target.url,
        "headers": dict(request.headers),
        "body": request.body,
    }


def _summary(target: Target) -> str:
    return f"k6-{target.phase}-summary.json"
