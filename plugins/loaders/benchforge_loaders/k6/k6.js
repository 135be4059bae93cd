// One request, again and again, as the file says that BENCHFORGE_K6 names; the summary goes to
// the file that BENCHFORGE_K6_OUT names.
import http from "k6/http";
import { Counter } from "k6/metrics";

const told = JSON.parse(open(__ENV.BENCHFORGE_K6));
const bad = new Counter("benchforge_status");
// Counters can be made here alone; one that never counted is not in the summary.
const named = {};
for (const status of told.statuses) named[status] = new Counter(`benchforge_status_${status}`);
const params = { headers: told.headers, timeout: told.timeout, redirects: 0 };

export const options = {
  scenarios: { load: told.scenario },
  discardResponseBodies: true,
  noConnectionReuse: !told.keep_alive,
  // Without this each lost request is a line on stderr.
  throw: true,
  summaryTrendStats: told.stats,
};

// So that it stands in the summary.
export function setup() {
  bad.add(0);
}

export default function () {
  try {
    const answer = http.request(told.method, told.url, told.body, params);
    if (answer.status >= 400) bad.add(1);
    if (named[answer.status]) named[answer.status].add(1);
  } catch (error) {
    // k6 counts it itself: http_req_failed.
  }
}

export function handleSummary(data) {
  return { [__ENV.BENCHFORGE_K6_OUT]: JSON.stringify(data) };
}
