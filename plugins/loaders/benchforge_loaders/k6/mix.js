// The requests of a mix: iteration n of all users makes record n of the stream, and where it begins
// a flow, all requests of the flow. Each count has the number of its kind as a tag; the summary
// goes to the file that BENCHFORGE_K6_OUT names.
import { sleep } from "k6";
import { SharedArray } from "k6/data";
import exec from "k6/execution";
import http from "k6/http";
import { Counter } from "k6/metrics";
import { NoValue, headersOf, nextRequest, setCookies, takenOf, withCookies } from "./flow_values.js";
import { recordsOf, requestOf } from "./stream.js";

const told = JSON.parse(open(__ENV.BENCHFORGE_K6));
const flows = told.flows === null ? { steps: [], extra: [] } : JSON.parse(open(told.flows));
// All users share one copy.
const records = new SharedArray("records", () =>
  recordsOf(open(told.stream, "b"), open(told.index, "b")),
);
const bad = new Counter("benchforge_status");
const taken = new Counter("benchforge_taken");
const again = new Counter("benchforge_again");
const untaken = new Counter("benchforge_take");
const unreached = new Counter("benchforge_not_reached");
const bodies = new Counter("benchforge_body");
const named = {};
for (const status of told.statuses) named[status] = new Counter(`benchforge_status_${status}`);
const tags = told.kinds.map((_, kind) => ({ kind: String(kind) }));
const MOST_REASONS = 20; // that a user prints
const LATE_S = 0.5; // k6 begins iterations until its clock rings: their steps follow one another
const printed = {};

// A count of one kind is in the summary only where a threshold names it; an empty one is always met.
const counted = [
  ...["http_reqs", "http_req_failed", "http_req_duration", "benchforge_status", "benchforge_take"],
  ...["benchforge_not_reached", "benchforge_body"],
  ...told.statuses.map((status) => `benchforge_status_${status}`),
];
const thresholds = {};
for (const kind of told.kinds.keys()) {
  for (const name of counted) thresholds[`${name}{kind:${kind}}`] = [];
}
// The rate is of requests, and a flow has several of them.
const scenario = { ...told.scenario };
if (scenario.rate) scenario.timeUnit = `${Math.round((flows.requests || 1) * 1e9)}ns`;

export const options = {
  scenarios: { load: scenario },
  discardResponseBodies: true,
  noConnectionReuse: !told.keep_alive,
  // Without this each lost request is a line on stderr.
  throw: true,
  summaryTrendStats: told.stats,
  // Not the URL: each value of a tag is kept for itself.
  systemTags: ["scenario"],
  thresholds,
};

// So that they are in the summary.
export function setup() {
  for (const counter of [bad, taken, again, untaken, unreached, bodies]) counter.add(0);
}

function answered(kind, request, withBody) {
  taken.add(1);
  try {
    return http.request(request.method, told.root + request.path, request.body, {
      headers: request.headers,
      timeout: told.timeout,
      redirects: 0,
      tags: tags[kind],
      // Cookies of answers would make requests that are not of the stream.
      jar: new http.CookieJar(),
      responseType: withBody ? "text" : "none",
    });
  } catch (error) {
    return null; // k6 counts it itself: http_req_failed
  }
}

function count(kind, answer) {
  if (answer.status >= 400) bad.add(1, tags[kind]);
  if (named[answer.status]) named[answer.status].add(1, tags[kind]);
  bodies.add(Number(answer.headers["Content-Length"] || 0), tags[kind]);
}

function lack(kind, error) {
  untaken.add(1, tags[kind]);
  const text = `benchforge take: ${told.kinds[kind]}: ${error.message}`;
  if (!printed[text] && Object.keys(printed).length < MOST_REASONS) console.warn(text);
  printed[text] = true;
}

// Make the later requests of a flow, until one ends it or the load ends.
function follow(kind, answer, later) {
  const values = {};
  let cookies = new Map(Object.entries(later[0].cookies));
  for (const [number, step] of later.entries()) {
    const { statuses, take, think_s } = flows.steps[kind];
    let request = null;
    try {
      if (answer !== null && statuses.includes(answer.status)) {
        const headers = headersOf(answer.headers);
        const fresh = setCookies(headers["set-cookie"]);
        Object.assign(values, takenOf(take, headers, fresh, answer.body));
        cookies = withCookies(cookies, fresh);
        request = nextRequest(step, values, cookies, flows.extra[kind + 1]);
      }
      if (answer !== null) count(kind, answer);
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
      lack(kind, error);
    }
    if (request === null) {
      const left = later.length - number;
      for (let n = 1; n <= left; n += 1) unreached.add(1, tags[kind + n]);
      return;
    }
    if (!goesOn(think_s || 0)) return;
    kind += 1;
    answer = answered(kind, request, Object.keys(flows.steps[kind].take).length > 0);
  }
  if (answer !== null) count(kind, answer);
}

// Wait between two steps, unless the load ends meanwhile.
function goesOn(think_s) {
  const left_s = told.duration_s + LATE_S - (Date.now() - exec.scenario.startTime) / 1000;
  if (left_s <= think_s) return false;
  if (think_s) sleep(think_s);
  return true;
}

export default function () {
  const number = exec.scenario.iterationInTest;
  const [kind, record, ...later] = records[number % records.length];
  if (number && number % records.length === 0) again.add(1);
  const takes = later.length > 0 && Object.keys(flows.steps[kind].take).length > 0;
  const answer = answered(kind, requestOf(record), takes);
  if (later.length > 0) follow(kind, answer, later.map((step) => JSON.parse(step)));
  else if (answer !== null) count(kind, answer);
}

export function handleSummary(data) {
  const later = flows.steps.map((step) => step.later);
  return { [__ENV.BENCHFORGE_K6_OUT]: JSON.stringify({ ...data, later }) };
}
