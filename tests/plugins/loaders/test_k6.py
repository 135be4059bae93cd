"""What k6 takes of answers and sends in later steps of flows: as pace, for hostile values too."""

import json
import os
import random
import re
from pathlib import Path
from typing import Any

from benchforge_loaders.k6.k6 import MIX
from front_door import captured, needed_tool

from benchforge.run.locate import locate
from benchforge.suite.mix.drivers import flow_values

SIGNS = "ab09 \"'\\<>&%#?/\t\r\n\0{}=;,+~!*()@:[]|^`$\u00e4\u20ac\U0001f600\u00a0\u200b\u2028\x7f"
VALUES: list[object] = [
    *("", "x" * 4096, "x" * 4097, "1\r\nX-Injected: yes", "a b", "%0d%0aX: y"),
    *("../../x", "//host/x"),
    *(0, 7, -3, 1.5, 2**53 + 1, 12345678901234567890, True, False, None, [1]),
    *({"a": 1}, "007", "+8"),
]
FORM = ["a=", ["x", "form"], "&j=", ["x", "json"], "&v=", ["x", "json value"]]
PATH = ["/a/", ["x", "path"], "?q=", ["x", "path"]]
STEP = {"method": "POST", "path": PATH, "headers": [["X-Form", ["1"]]], "body": FORM}
GET: dict[str, Any] = {"method": "GET", "headers": [], "body": None}
IN_HEADER = {**GET, "path": ["/"], "headers": [["X-A", ["v ", ["x", "header"]]]]}
WHOLE = {**GET, "path": ["/", ["x", "integer"]]}
RAW = {**GET, "path": ["/", ["x", "raw path"]]}
LINES = [
    ["s=1; Path=/; HttpOnly"],
    ['s="a b"; Expires=Wed, 09 Jun 2031 10:18:14 GMT', "t=2; Max-Age=0", "u=3"],
    ["bad name=1", "ok=\u00e4", "v=" + "x" * 5000, "w=1,2"],
]
SCRIPT = """
import { NoValue, headersOf, nextRequest, setCookies, takenOf, withCookies } from "FILE";
const cases = JSON.parse(open("cases.json"));
export const options = { vus: 1, iterations: 1 };
export default function () {}
function one({ take, headers, body, step, cookies }) {
  try {
    const fields = headersOf(headers);
    const fresh = setCookies(fields["set-cookie"]);
    const values = takenOf(take, fields, fresh, body);
    const both = withCookies(new Map(Object.entries(cookies)), fresh);
    return nextRequest(step, values, both, "Host: a\\r\\n");
  } catch (error) {
    if (error instanceof NoValue) return null;
    throw error;
  }
}
export function handleSummary() {
  return { "out.json": JSON.stringify(cases.map(one)) };
}
"""


def cases() -> list[dict[str, Any]]:
    """Return answers with values of all kinds, each with a step that uses one of them."""
    draw = random.Random(7)
    texts = ["".join(draw.choices(SIGNS, k=draw.randrange(1, 9))) for _ in range(300)]
    entries: list[dict[str, Any]] = []
    for number, value in enumerate([*VALUES, *texts]):
        step = (STEP, IN_HEADER, WHOLE, RAW)[number % 4] if value in texts else None
        for used in (STEP, IN_HEADER, WHOLE, RAW) if step is None else (step,):
            lines = LINES[number % 3]
            headers = {"Set-Cookie": ", ".join(lines), "X-Value": "h"}
            body = json.dumps({"a/b": [{"c": value}]}, ensure_ascii=number % 2 == 0)
            entry = {"take": {"x": "json:/a~1b/0/c"}, "headers": headers, "lines": lines}
            cookies = {"t": "old", "z": "seven"}
            entries.append({**entry, "body": body, "step": used, "cookies": cookies})
    plain = {"headers": {"X-Value": "h v"}, "lines": [], "step": STEP, "cookies": {}}
    for where, body in (
        *(("header:x-value", ""), ("header:X-Other", ""), ("cookie:s", "")),
        ("regex:id=([a-z0-9]+);", "of id=7x; and more"),
        *(("regex:(?:no|none) ([0-9]+)", "nothing"), ("json:/__proto__/toString", "{}")),
        *(("json:/a", "{"), ("json:/a", "[" * 20000), ("json:/a", '{"a": NaN}')),
        *(("json:/a", '{"a": 01}'), ("json:/a", '{"a": "x"}' + " " * (1 << 18))),
        *(("json:/a/01", '{"a": [1, 2]}'), ("json:/a/length", '{"a": [1, 2]}')),
    ):
        entries.append({"take": {"x": where}, "body": body, **plain})
    return entries


def by_python(case: dict[str, Any]) -> dict[str, Any] | None:
    """Return the same request by the code that pace and locust use."""
    body = case["body"].encode()
    try:
        fresh = flow_values.cookies_set(case["lines"])
        fields = {name.lower(): value for name, value in case["headers"].items()}
        full = body if len(body) <= flow_values.LARGEST_BODY else None
        values = flow_values.taken(case["take"], fields, fresh, full)
        cookies = flow_values.with_cookies(case["cookies"], fresh)
        sent = flow_values.request(case["step"], values, cookies, "Host: a\r\n").decode()
    except flow_values.NoValue:
        return None
    head, _, text = sent.partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    pairs = dict(line.split(": ", 1) for line in lines)
    has_body = pairs.pop("Content-Length", None) is not None
    method, path, *_ = first.split(" ")
    return {"method": method, "path": path, "headers": pairs, "body": text if has_body else None}


def test_a_later_step_is_as_pace_makes_it(tmp_path: Path) -> None:
    needed_tool('use = "k6"')
    options = cases()
    (tmp_path / "cases.json").write_text(json.dumps(options))
    file = MIX.with_name("flow_values.js").as_posix()
    (tmp_path / "script.js").write_text(SCRIPT.replace("FILE", file))
    words = [str(locate("k6")), "run", "--quiet", "--no-usage-report", "--address", "", "script.js"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = captured(words, cwd=tmp_path, env=environment, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    made = json.loads((tmp_path / "out.json").read_text())
    assert len(made) == len(options) > 300
    sound = 0
    for case, item in zip(options, made, strict=True):
        wanted = by_python(case)
        raw = case["step"] is RAW and wanted is not None
        if raw and wanted and re.search("#|%(?![0-9A-Fa-f]{2})", wanted["path"]):
            wanted = None  # k6 parses the URL, and cannot send such a path
        assert item == wanted, case
        sound += item is not None
    assert sound > 50
