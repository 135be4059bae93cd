"""hyperfine: times a whole process that makes its requests and ends."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field, PositiveInt, field_validator

from benchforge.plugin import BenchforgeError, Command, Duration, Need, Output, Reading, Target
from benchforge.plugin.load_tools import Amount, Program, Seconds, ToolJson, ended_well, parsing


class _Result(ToolJson):
    mean: Seconds
    stddev: Amount | None
    median: Seconds
    user: Amount
    system: Amount
    min: Seconds
    max: Seconds
    times: list[Seconds]
    exit_codes: tuple[int | None, ...] = ()


class _Printed(ToolJson):
    results: list[_Result]


class Hyperfine(Program):
    """hyperfine: repeats a command without a shell, and times each run.

    Good to know:

    - hyperfine knows processes, not requests. The suite declares the number of requests of a run,
      and the exit code decides whether they were good. So the number of good responses is only a
      bound, and their rate is unknown. With `count = "all"`, throughput relies on the suite's
      number.
    - The time of a run includes the start of its interpreter and its imports.
    - The times of all runs, their mean and deviation, user and system time are kept as claims.
    """

    name: ClassVar[str] = "hyperfine"
    install: ClassVar[str] = "apt-get install hyperfine (Debian, Ubuntu), or cargo install it"
    debian: ClassVar[str] = "hyperfine"

    argv: list[str] = Field(alias="command", min_length=1)
    """Program and its arguments. {url} is replaced by the request's URL, {python} by benchforge's \
own interpreter."""
    requests: PositiveInt
    "Number of requests that one run of the command makes."
    runs: PositiveInt = 10
    "Number of runs of the command in one trial."
    run_takes: Annotated[Duration, Field(gt=0)] = Duration(1)
    "Estimated time of one run. It is used for the plan and for the time limit."

    @field_validator("argv")
    @classmethod
    def _knows_the_url(cls, argv: list[str]) -> list[str]:
        if not any("{url}" in word for word in argv[1:]):
            raise ValueError("the command needs {url}, the address of the request")
        return argv

    def needs(self) -> Iterable[Need]:
        yield from super().needs()
        if self.argv[0] != "{python}":
            yield Need(self.argv[0], "the suite's command names it")

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for a request that is more than its URL."""
        request = target.request
        if request.method != "GET" or request.headers or request.body is not None:
            raise BenchforgeError(
                f"hyperfine: a {request.method} request with headers or a body: only the URL "
                "reaches the command that it runs",
                "leave them to the command, and let the scenario ask a plain GET",
            )
        program = target.programs.get(self.argv[0], self.argv[0])
        words = [
            str(word).replace("{url}", target.url).replace("{python}", str(target.python))
            for word in (program, *self.argv[1:])
        ]
        return [
            Command(
                target.programs["hyperfine"],
                *("-N", "--runs", self.runs, "--style", "none"),
                *("--export-json", target.folder / _file(target)),
                shlex.join(words),
                folder=target.suite_folder.resolve(),
            )
        ]

    def why_no_kinds(self, requests: Mapping[str, object]) -> str:
        return "times a program, which chooses its requests"

    def read(self, output: Output) -> Reading:
        ended_well("hyperfine", output)
        name = _file(output.target)
        with parsing(name, hint=""):
            return self._reading(_Printed.from_json(output.file(name)).results)

    def declared_s(self) -> float:
        return self.runs * float(self.run_takes)

    def for_warm_up(self, seconds: float) -> Self:
        """Return the same load with the runs that fit into the time by the guess, at least one."""
        return self.model_copy(update={"runs": max(1, round(seconds / float(self.run_takes)))})

    def _reading(self, results: list[_Result]) -> Reading:
        if len(results) != 1:
            raise ValueError(f"results: {len(results)}, asked was 1")
        (result,) = results
        if len(result.times) != self.runs:
            raise ValueError(f"results.0.times: {len(result.times)}, asked were {self.runs}")
        if any(result.exit_codes):
            raise ValueError(f"results.0.exit_codes: {result.exit_codes}")
        if abs(sum(result.times) / self.runs - result.mean) > 1e-6 * result.mean:
            raise ValueError(f"results.0.mean: {result.mean} is not that of its times")
        requests, printed = self.runs * self.requests, result.model_dump(exclude={"exit_codes"})
        return Reading(
            seconds=sum(result.times),
            responses=requests,
            good_at_least=0,
            good_at_most=requests,
            doubt="hyperfine counts none: how many requests a run makes is what the suite says",
            errors={},
            process_s=tuple(result.times),
            process_user_s=result.user,
            process_system_s=result.system,
            printed={"runs": self.runs, **{f"{name}_s": each for name, each in printed.items()}},
        )


def _file(target: Target) -> str:
    return f"hyperfine-{target.phase}.json"
