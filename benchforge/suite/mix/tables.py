"""The tables [feeds.x] and [scenarios.s.kinds.k], as a suite writes them."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, PositiveInt, model_validator

from benchforge.model.trial.answers.answer import Request
from benchforge.model.values.frozen import Frozen
from benchforge.model.values.units import Duration
from benchforge.parts.fillable import WrongOption

SOURCES = ("values", "integers", "text", "file")
_SKEW = r"^zipf (\d{1,3}(?:\.\d{1,6})?)$"
_MOST_VALUES = 1_000_000
_LONGEST_TEXT = 100_000
_LARGEST = 2**53
_MOST_SHARE = 10_000
_SOURCE = r"cookie:[^=;,\s]+|header:[\w-]+|json:/.*"
_Key = Annotated[str, Field(pattern=r"^[A-Za-z_][\w-]*$")]
_Whole = Annotated[int, Field(ge=-_LARGEST, le=_LARGEST)]


class Feed(Frozen):
    """A table [feeds.x]. It has one of `values`, `integers`, `text` and `file`."""

    values: tuple[_Whole | float | str, ...] | None = Field(default=None, min_length=1)
    "Texts and numbers."
    integers: tuple[_Whole, _Whole] | None = None
    "Lowest and highest of whole numbers, such as [1, 10000]."
    text: tuple[int, int] | None = None
    "Lowest and highest number of characters of a text of ASCII letters and blanks."
    file: str | None = None
    "Path of a CSV file, relative to the suite's folder. Its first line names the columns."
    order: Literal["random", "in order", "each once"] = "random"
    """Order of the values. `random`: each is as likely as any other, and `values` are dealt, so \
that each comes equally often; `in order`: from the first to the last, then again; `each once`: in \
order, without a second time."""
    skew: str | None = Field(default=None, pattern=_SKEW)
    'Distribution of a random order, such as "zipf 1.1": the first value is the most frequent.'

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        names = [name for name in SOURCES if getattr(self, name) is not None]
        if len(names) != 1:
            fault = f"{' and '.join(names)} exclude each other" if names else "a feed has no values"
            raise WrongOption(fault, *names, hint="give one of values, integers, text and file")
        for name in ("integers", "text"):
            ends = getattr(self, name)
            if ends is not None and ends[0] > ends[1]:
                raise WrongOption("the lowest comes first, then the highest", name)
        if self.text is not None and not 0 <= self.text[0] <= self.text[1] <= _LONGEST_TEXT:
            raise WrongOption(f"a text has 0 to {_LONGEST_TEXT} characters", "text")
        if self.text is not None and (self.order != "random" or self.skew):
            raise WrongOption("a text is random", "order", "skew", hint="leave it out")
        if self.skew is not None and self.order != "random":
            raise WrongOption("a skew is for a random order", "skew", "order")
        bounded = self.skew is not None or self.order == "each once"
        if bounded and self.integers and self.integers[1] - self.integers[0] >= _MOST_VALUES:
            fault = f"{_MOST_VALUES:,} numbers at most have a skew, or come once each"
            raise WrongOption(fault, "integers", "skew", "order")
        return self

    @property
    def exponent(self) -> float | None:
        """Exponent of the skew; None without one."""
        match = re.fullmatch(_SKEW, self.skew or "")
        return float(match[1]) if match else None


class KindRequest(Request):
    """Request of a kind. `{feed}`, `{feed.column}` and `{feed:raw}` are holes; `{{` is a brace."""

    form: dict[str, str] | None = None
    "Fields of a form, which make the body."

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if self.method == "HEAD":
            raise WrongOption("kinds do not know HEAD yet", "method", hint="use GET")
        if self.form is not None and self.body is not None:
            raise WrongOption("body and form exclude each other", "form", "body")
        return self


class UserSession(Frozen):
    """A table [scenarios.s.session]: the login of users before each load, which is not measured."""

    users: Annotated[PositiveInt, Field(le=1000)] = 10
    "Number of users. Each logs in once before a load; each request of the load is of one of them."
    request: KindRequest
    "Login, with holes for the values of feeds: each user has rows of its own."
    expect: dict[str, JsonValue] = Field(default_factory=dict)
    "Definition of a right answer to the login, as in a scenario."
    take: dict[_Key, Annotated[str, Field(pattern=rf"^({_SOURCE})$")]] = Field(default_factory=dict)
    """Values of the answer for holes of kinds, by name: "cookie:csrftoken", "header:X-Token", \
"json:/token". All cookies are sent without this."""


class FlowStep(Frozen):
    """A step of a flow: an element of the array `steps` of a kind."""

    name: str = Field(pattern=r"^[A-Za-z0-9_][\w-]*$")
    "Name. The step is the kind FLOW.NAME in reports and claims."
    request: KindRequest = KindRequest()
    "Request, with holes for the values of feeds, and for what earlier steps take."
    expect: dict[str, JsonValue] = Field(default_factory=dict)
    "Definition of a right answer. An answer of the load with another status ends the flow."
    take: dict[_Key, Annotated[str, Field(pattern=rf"^({_SOURCE}|regex:.+)$")]] = Field(
        default_factory=dict
    )
    """Values of the answer for holes of later steps, by name: "json:/cart/id", "header:Location", \
"cookie:csrftoken", "regex:name=.token. value=.([^'>]+)". Cookies are sent without this."""

    @model_validator(mode="after")
    def _patterns(self) -> Self:
        for where in self.take.values():
            source, _, form = where.partition(":")
            if source == "regex" and (reason := _not_a_pattern(form)):
                raise WrongOption(f"{form!r} {reason}", "take", hint='such as "regex:id=([0-9]+)"')
        return self


def _not_a_pattern(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        return f"is not a regular expression: {error}"
    return "" if groups == 1 else "does not have one group, which is the value"


class RequestKind(Frozen):
    """A table [scenarios.s.kinds.k]: one kind of the scenario's requests."""

    share: Annotated[PositiveInt, Field(le=_MOST_SHARE)] = 1
    "Share of the requests, as a whole number: 70 beside 30, or 7 beside 3."
    request: KindRequest = KindRequest()
    "Request, with holes for the values of feeds."
    expect: dict[str, JsonValue] = Field(default_factory=dict)
    'Definition of a right answer, as in a scenario. `"{feed:integer}"` is a number.'
    steps: tuple[FlowStep, ...] = ()
    """Steps of a flow, instead of `request`: one after the other, each with values of the answers \
before it."""
    think: Duration | None = None
    """Time between the answer to a step and the next step. Default: the `think` of the load tool, \
or none."""

    @model_validator(mode="after")
    def _steps_or_request(self) -> Self:
        wrong = sorted({"request", "expect"} & self.model_fields_set)
        if not self.steps:
            if "steps" in self.model_fields_set:
                raise WrongOption("a flow has steps", "steps", hint="give request instead")
            if self.think is not None:
                hint = "give think to the load tool, or give steps"
                raise WrongOption("only a flow has think", "think", hint=hint)
            return self
        if wrong:
            fault = f"steps and {' and '.join(wrong)} exclude each other: each step has its own"
            raise WrongOption(fault, *wrong, "steps")
        names = [step.name for step in self.steps]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise WrongOption(f"two steps have the name {twice!r}", "steps")
        return self

    def rows(self, label: str) -> "dict[str, RequestKind | FlowStep]":
        """Return the requests by the labels of their rows: itself, or the steps of a flow."""
        if not self.steps:
            return {label: self}
        return {f"{label}.{step.name}": step for step in self.steps}
