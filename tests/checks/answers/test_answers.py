"""E1 to E7: errors, what response times leave out, and whether all answer alike."""

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.observed import LIMITS, answer, probes, reading, right, trial
from made.quiet_trial import Row, asked

from benchforge.checks.answers import answers
from benchforge.checks.answers.alike import answers as same
from benchforge.checks.answers.alike import size
from benchforge.checks.answers.answers import censored
from benchforge.checks.sizes import sizes
from benchforge.model.suite.search import SearchOutcome
from benchforge.model.summary.summary import Comparison
from benchforge.model.trial.answers.answer import Expect
from benchforge.model.trial.check import Check
from benchforge.model.trial.histogram import Histogram
from benchforge.model.trial.reading import Bodies, Reading, SampledBody
from benchforge.model.trial.stream import Stream, StreamKind
from benchforge.model.trial.trial import Trial
from benchforge.plugin import Request


def between(*sides: Trial) -> dict[str, Check]:
    return {item.id: item for item in answers.of_comparison([[side] for side in sides], LIMITS)}


def statuses(*sides: Trial) -> dict[str, str]:
    return {id_: item.status for id_, item in between(*sides).items()}


def mix(*labels: str) -> Stream:
    kinds = {label: StreamKind(share=1, records=1, request=Request()) for label in labels}
    return Stream(records=2, sha256="ab", kinds=kinds)


def body(digest: str, responses: int, **changed: Any) -> SampledBody:
    fields = {"status": 200, "length": 1000, "sha256": digest, "responses": responses, "wrong": ""}
    return SampledBody.model_validate(fields | changed)


def sample(*bodies: SampledBody, others: int = 0, **changed: Any) -> Trial:
    return trial(reading=reading(sampled=bodies, sampled_others=others), **changed)


def failing(bad: int, unanswered: int | None = 0) -> Reading:
    good = {"good_at_least": 20_000 - bad, "good_at_most": 20_000 - bad}
    return reading(**good, unanswered=unanswered, errors={"status": bad})


def late(recorded: int, timeouts: int, connections: int = 1) -> Trial:
    times = {"latency": Histogram.of({4000: recorded}), "errors": {"timeout": timeouts}}
    read = reading(responses=recorded + timeouts, censored=timeouts, **times)
    return trial(reading=read, load={"connections": connections})


def flying(ages: dict[int, int]) -> Trial:
    read = reading(latency=Histogram.of({500: 20_000}), in_flight=Histogram.of(ages))
    return trial(reading=read)


def many(**load: int | None) -> Trial:
    return trial(load=load)


WRONG = body("bb", 2, begin="no rows", wrong="no JSON"), body("aa", 2, status=500, wrong="500")
SHOWN = (
    "4 of 100 sampled answers of the load are wrong: 2 of status 200 with 1,000 bytes, 'no rows'"
)
KINDS: dict[str, Any] = {"good_response": None, "stream": mix("list", "item")}
BOUNDS = reading(good_at_least=19_000, doubt="lengths differ")
LARGER = "it is more than the largest time"

ROWS = [
    Row("E7", sample(body("aa", 300)), "pass behaviour", 0, "300 sampled answers of the load is"),
    Row("E7", sample(body("aa", 300)), "pass behaviour", 0, "wrong: at most 1 %"),
    Row("E7", sample(body("aa", 95), *WRONG, others=1), "fail behaviour", 0.04, SHOWN),
    Row("E7", sample(body("aa", 9), body("bb", 1, wrong=None)), "unknown behaviour"),
    Row(
        "E7",
        sample(body("aa", 9), body("bb", 1, begin="other")),
        "warn behaviour",
        says="whether it is right is for `expect` to say",
    ),
    Row("E7", sample(body("bb", 9), answers=(answer(), answer(sha256="cc"))), "pass behaviour"),
    # Even where the bodies are those of single requests: they may belong to another kind.
    *(
        Row("E7", sample(body(digest, 300), **KINDS), "unknown behaviour", says="several kinds")
        for digest in ("aa", "bb")
    ),
    Row("E1", trial(reading=failing(0)), "pass behaviour"),
    *(Row("E1", trial(reading=failing(bad)), "warn behaviour") for bad in (1, 19)),
    Row("E1", trial(reading=failing(20)), "fail behaviour"),
    Row("E1", trial(reading=failing(0, unanswered=40)), "fail behaviour"),
    Row("E1", trial(reading=failing(0, unanswered=None)), "unknown behaviour"),
    Row("E1", trial(reading=BOUNDS), "unknown behaviour", says="lengths differ"),
    # Measured: wrk --timeout 1s told a p99 of 4.77 ms of 5,571 and lost 250 that took 1.5 s.
    Row("E2:p99", late(5571, 250), "fail behaviour", 251 / 58.22, f"p99 is not known, {LARGER}"),
    # Half of the requests lost leave no median.
    Row("E2:p50", late(100, 101), "fail behaviour", says=f": p50 is not known, {LARGER}"),
    # What is in flight at the end counts by connections, of which each may have several requests.
    *(
        Row("E2", late(20_000, 0, connections), outcome)
        for connections, outcome in ((19, "pass"), (21, "warn"), (190, "warn"), (210, "fail"))
    ),
    Row("E2", many(connections=10, concurrency=80), "warn", 80 / (0.01 * 20_080)),
    Row("E2", many(connections=None), "unknown"),
    # Ages that are told count only beyond the percentile.
    Row("E2", flying({100: 16}), "pass", 0),
    Row("E2", flying({9_000_000: 64}), "warn"),
    Row("E2", flying({9_000_000: 300}), "fail"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.check}-{row.outcome}")
def test_answers(row: Row) -> None:
    row.holds()
    of_times = row.check.startswith("E2")
    check = asked(row.trial, *row.check.split(":"))
    assert check.invalidates == ("latency" if of_times else "all")


def test_nothing_speaks_against_a_healthy_trial() -> None:
    items = list(answers.of_trial(trial(), LIMITS))
    assert [item.id for item in items] == ["E1", "E2", "E3", "E3", "E6"]
    assert {item.status for item in items} == {"pass"}, items
    assert set(statuses(trial(), trial(server="b")).values()) == {"pass"}
    assert list(answers.sampled(trial(), LIMITS)) == []


def test_what_is_not_there_is_unknown() -> None:
    unread = reading(unanswered=None, received_bytes=None, latency=None)
    absent = dict.fromkeys(("probes", "good_response", "monitor"))
    load = {"connections": None, "options_digest": ""}
    bare = trial(**absent, answers=(), load=load, reading=unread)
    assert {item.status for item in answers.of_trial(bare, LIMITS)} == {"unknown"}
    assert set(statuses(bare, trial()).values()) == {"unknown"}
    assert statuses(trial()) == {}
    nobody = {item.id: item.status for item in answers.of_comparison([[trial()], [], []], LIMITS)}
    assert nobody == dict.fromkeys(("E1", "E3", "E4", "E5"), "unknown")


@pytest.mark.parametrize(
    ("expect", "text", "wrong"),
    [
        ({"json": {"a": 1}}, '{"a": 1, "b": 2}', False),
        ({"json": {"a": 1}}, '{"a": 2}', True),
        ({"body": "pong"}, "gnop", True),
        ({"same_body": True}, "gnop", True),
        ({"length": 3}, "gnop", True),
        ({}, "gnop", False),
    ],
)
def test_e7_holds_a_sampled_body_to_what_the_suite_expects(
    expect: dict[str, Any], text: str, wrong: bool
) -> None:
    def judged(expect: dict[str, Any], **changed: Any) -> str | None:
        observed = body(digest, 1, length=len(text), wrong=None, **{"begin": text} | changed)
        read = reading(sampled=(observed,))
        return answers.judged(read, Expect.model_validate(expect), [answer()]).sampled[0].wrong

    digest = sha256(text.encode()).hexdigest()
    assert bool(judged(expect)) is wrong
    assert judged({"json": {"a": 1}}, begin=text[:1]) is None


# --- E1 and E2 -----------------------------------------------------------------------------------


@given(st.integers(0, 20_000))
def test_e1_finds_errors_whatever_their_share(bad: int) -> None:
    check = asked(trial(reading=failing(bad)), "E1")
    assert check.value == pytest.approx(bad / 20_000, rel=1e-5)
    assert trial(checks=(check,)).believed


def test_e1_compares_shares_of_errors() -> None:
    sides = (failing(0), failing(20), failing(21), failing(0, unanswered=None))
    actual = [statuses(trial(), trial(server="b", reading=side))["E1"] for side in sides]
    assert actual == ["pass", "pass", "fail", "unknown"]


def test_e2_of_a_low_percentile_leaves_out_little() -> None:
    """Of 112 responses one is in flight: the slowest 1 % are one, the slowest half are 56."""
    few = trial(reading=reading(latency=Histogram.of({4000: 112})), load={"connections": 1})
    assert censored(few, LIMITS, [50]).status == "pass"
    assert censored(few, LIMITS, [50, 99]).status == "warn"


@given(st.integers(1, 10**6), st.integers(0, 10**4), st.integers(1, 1000))
def test_e2_fails_where_the_quantile_lies_among_the_lost(
    recorded: int, timeouts: int, connections: int
) -> None:
    check = censored(late(recorded, timeouts, connections), LIMITS, [50, 99])
    lost = timeouts + connections
    if Histogram.of({4000: recorded}).quantile(0.99, lost) is None:
        assert check.status == "fail"
    assert check.value == pytest.approx(lost / (0.01 * (recorded + lost)), rel=1e-4)


# --- E3 ------------------------------------------------------------------------------------------


def lengths(shortest: int, longest: int, received: int, **changed: Any) -> Trial:
    """A load whose single answers had two lengths, in bytes."""
    single = probes(answer(length=shortest), answer(length=longest))
    free = right(shortest=shortest, longest=longest, binding=False)
    read = reading(received_bytes=20_000 * received, **changed)
    return trial(probes=single, good_response=free, reading=read)


HTML = answer(headers={"content-type": "text/html"})
CHANGING = probes(answer(), answer(sha256="bb", length=1010))
CREATED = answer(status=201, headers={"content-type": "text/html"})
EITHER = right(status=(200, 201))
FEW = reading(responses=16, good_at_least=16, good_at_most=16, received_bytes=16 * 1200)
SHORT = reading(received_bytes=20_000 * 1120)
HEADS = reading(received_bytes=20_000 * 1177, body_bytes=20_000_000)
BY_OTHERS = reading(good_at_most=19_000, good_at_least=19_000, received_bytes=22_900_000)


@pytest.mark.parametrize(
    ("item", "status", "says"),
    [
        (trial(probes=probes(wrong={"expected status 200": 1})), "fail", "expected status 200"),
        (trial(probes=probes(unanswered={"no answer": 1})), "fail", "no answer"),
        (trial(probes=probes(answer(), answer(status=503))), "fail", "statuses 200, 503"),
        (trial(probes=probes(answer(), HTML)), "fail", "content types text/html, text/plain"),
        (trial(probes=CHANGING), "warn", "1,000 to 1,010"),
        (trial(probes=CHANGING, stream=mix("item")), "pass", "E6 judges"),
        # The bodies are for `expect` to judge.
        (trial(probes=probes(answer(), CREATED), good_response=EITHER), "warn", ""),
        (trial(probes=probes(answer(), HTML), good_response=EITHER), "fail", "content types"),
    ],
)
def test_e3_of_single_answers(item: Trial, status: str, says: str) -> None:
    check = same(item, LIMITS)
    assert (check.status, check.subject) == (status, "behaviour")
    assert says in check.message


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        *(({"reading": reading(received_bytes=20_000 * n)}, "pass") for n in (1149, 1150, 1152)),
        *(({"reading": reading(received_bytes=20_000 * n)}, "unknown") for n in (1140, 1155)),
        *(({"reading": reading(received_bytes=20_000 * n)}, "fail") for n in (150, 1138, 1165)),
        # Another status shows in the heads alone.
        ({"reading": HEADS}, "fail"),
        # Headers of the connection may be missing where it was asked otherwise.
        ({"reading": SHORT}, "fail"),
        ({"probes": probes(version=""), "reading": SHORT}, "unknown"),
        ({"reading": FEW}, "unknown"),
        ({"reading": reading(body_bytes=20_000 * 1400, received_bytes=None)}, "fail"),
        ({"load": {"protocol": "HTTP/2"}}, "unknown"),
        # Bytes that are those of right answers need no protocol.
        ({"load": {"protocol": None}, "reading": reading(received_bytes=20_000 * 1150)}, "pass"),
        ({"load": {"protocol": None}, "reading": reading(received_bytes=20_000 * 1149)}, "unknown"),
        ({"reading": reading(received_bytes=None)}, "unknown"),
        ({"reading": BY_OTHERS}, "unknown"),
        ({"reading": reading(errors={"status": 1}, received_bytes=20_000 * 1130)}, "unknown"),
        ({"reading": reading(unanswered=None)}, "unknown"),
        ({"reading": reading(own_requests=True)}, "unknown"),
        ({"probes": None}, "unknown"),
        ({"probes": probes(sizes=None)}, "unknown"),
        ({"good_response": None}, "unknown"),
        ({"good_response": right(shortest=0, longest=None)}, "unknown"),
    ],
)
def test_e3_of_lengths_of_the_loads_responses(changed: Any, status: str) -> None:
    check = size(trial(**changed), LIMITS)
    assert (check.status, check.subject) == (status, "behaviour")
    heads = "177 bytes of head in the load, 150 in a right answer"
    assert (heads in check.message) == (changed.get("reading") is HEADS)


@pytest.mark.parametrize(
    ("item", "status"),
    [
        (lengths(9, 30, 170), "unknown"),
        (lengths(9, 12, 161), "pass"),
        (lengths(9, 12, 161, byte_error=20_000 * 9), "unknown"),
    ],
)
def test_e3_says_nothing_where_the_slack_is_as_large_as_a_body(item: Trial, status: str) -> None:
    assert size(item, LIMITS).status == status


@pytest.mark.parametrize(("length", "each"), [(18, 18 - 18), (18, 59), (4000, 45)])
def test_e3_fails_for_answers_that_are_empty_compressed_or_errors(length: int, each: int) -> None:
    request = probes(answer(length=length))
    expected = right(shortest=length, longest=length)
    for actual in (
        {"received_bytes": 20_000 * (150 + each)},
        {"received_bytes": 20_000 * (150 + each), "body_bytes": 20_000 * each},
        {"received_bytes": None, "promised_bytes": 20_000 * each},
    ):
        item = trial(probes=request, good_response=expected, reading=reading(**actual))
        check = size(item, LIMITS)
        assert check.status == "fail", (actual, check.message)


def test_e3_names_a_length_in_doubt_and_does_not_fail() -> None:
    grew = right(binding=False, doubt="answers to POST may grow, such as an id")
    bodies = [Bodies(status=200, length=n, responses=10_000) for n in (1000, 1001)]
    check = size(trial(good_response=grew, reading=reading(bodies=bodies)), LIMITS)
    assert check.status == "warn"
    assert "10,000 of 20,000 bodies of the load are not of 1,000 bytes" in check.message
    assert "`expect.length` decides it" in check.message
    longer = reading(body_bytes=20_000 * 1400, received_bytes=None)
    assert size(trial(good_response=grew, reading=longer), LIMITS).status == "unknown"


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"probes": probes(answer(status=404))}, "fail"),
        ({"probes": probes(HTML)}, "fail"),
        ({"probes": probes(answer(headers={"content-type": "text/plain; charset=x"}))}, "pass"),
        ({"probes": probes(answer(sha256="bb"))}, "warn"),
        # Unlike statuses are comparable where the suite declares them.
        ({"probes": probes(CREATED)}, "fail"),
        ({"probes": probes(CREATED), "good_response": right(status=201)}, "pass"),
    ],
)
def test_e3_of_sides_that_answer_otherwise(changed: Any, status: str) -> None:
    assert statuses(trial(), trial(server="b", **changed))["E3"] == status


# --- E4 and E5 -----------------------------------------------------------------------------------


PLAIN = {"content-type": "text/plain", "date": "", "server": ""}


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"header_bytes": 270}, "270"),
        ({"header_bytes": 40, "length": 100}, "40"),
        ({"version": "HTTP/1.0"}, "HTTP/1.0"),
        ({"headers": PLAIN}, ""),
        ({"headers": {"content-type": "text/plain", "server": "b"}}, "no header Date from b"),
        ({"headers": PLAIN | {"content-encoding": "gzip"}}, "compression"),
    ],
)
def test_e4_warns_of_headers_that_differ(changed: Any, word: str) -> None:
    check = between(trial(), trial(server="b", probes=probes(answer(**changed))))["E4"]
    assert check.status == ("warn" if word else "pass")
    assert word in check.message


@given(st.integers(0, 2_000), st.integers(0, 2_000))
def test_e4_has_a_size_for_headers_that_another_server_does_not_send(
    first: int, second: int
) -> None:
    trials = [
        trial(server=name, probes=probes(answer(header_bytes=length)))
        for name, length in (("a", first), ("b", second))
    ]
    moves = sizes(comparison(*trials), trials, ())
    apart = abs(first - second)
    if "E4" in moves.by_id:
        assert moves.by_id["E4"] == pytest.approx(1 / (1 - apart / 1_000) - 1)
    else:  # nothing differs, it differs by too little to say so, or the bound is no bound
        assert apart >= 1_000 or apart <= (1_000 + min(first, second)) * 0.1
    unlike = [trials[0], trial(server="b", probes=probes(answer(version="HTTP/1.0")))]
    assert "E4" not in sizes(comparison(*unlike), unlike, ()).by_id


def comparison(*trials: Trial) -> Comparison:
    names = tuple(it.case for it in trials)
    checks = tuple(between(*trials).values())
    return Comparison(scenario="s", driver="w", vary={}, cases=names, checks=checks)


def test_e5_lets_a_search_choose_rate_and_arrivals_and_nothing_else() -> None:
    def sought(block: int, digest: str, server: str = "a") -> Trial:
        outcome = SearchOutcome(rate=100.0, passed=True)
        load = {"rate": 100.0, "options_digest": digest}
        return trial(server=server, block=block, load=load, search_outcome=outcome)

    by_block = [sought(1, "s"), sought(1, "s", "b"), sought(2, "t"), sought(2, "t", "b")]
    assert statuses(*by_block)["E5"] == "pass"
    assert statuses(*by_block, sought(2, "u"))["E5"] == "fail"


@pytest.mark.parametrize(
    ("id_", "changed", "outcome"),
    [
        # An older answer has no length of headers.
        ("E4", {"probes": None, "answers": (answer(header_bytes=None),)}, "unknown behaviour"),
        ("E5", {"request": Request(path="/other")}, "fail apparatus"),
        ("E5", {"load": {"options_digest": "t"}}, "fail apparatus"),
        ("E5", {"load": {"options_digest": ""}}, "unknown apparatus"),
    ],
)
def test_another_request_or_another_script(id_: str, changed: Any, outcome: str) -> None:
    server = "b" if id_ == "E4" else "a"
    check = between(trial(), trial(server=server, **changed))[id_]
    assert f"{check.status} {check.subject}" == outcome


def test_e5_lets_own_requests_differ_where_all_answers_are_equal() -> None:
    def at(path: str, server: str, sha256: str = "aa") -> Trial:
        request = {"request": Request(path=path), "probes": probes(answer(sha256=sha256))}
        return trial(server=server, **request)

    equal = between(at("/a?n=20", "a"), at("/a/20", "b"))["E5"]
    assert equal.status == "pass"
    assert "a by GET /a?n=20, b by GET /a/20" in equal.message
    unlike = between(at("/a?n=20", "a"), at("/a/20", "b", "bb"))["E5"]
    assert unlike.status == "fail"
    assert "is comparable where all bodies are the same" in unlike.message
    changed = answers.of_comparison([[at("/a", "a"), at("/b", "a")], [at("/a", "b")]], LIMITS)
    assert {item.id: item.status for item in changed}["E5"] == "fail"
