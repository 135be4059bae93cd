// What the later steps of a flow use of the answers to earlier ones: taken, checked, filled in, by
// the rules of drivers/flow_values.py.
import { fieldsOf } from "./stream.js";

// Characters of a value and of a body that is looked at, cookies of a flow.
const LONGEST = 4096;
const LARGEST_BODY = 1 << 18;
const MOST_COOKIES = 50;
const APART = /, (?=[^=;,\s]+=)/; // headers of one name are joined by a comma, and dates have one, too
const COOKIE = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([ -:<-~]*?)\s*(?:;(.*))?$/;
const ENDED = /(?:^|;)\s*max-age=(?:0|-\d+)\s*(?:;|$)/i;
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ue000-\uf8ff\ufeff\ufff9-\ufffb]/;
const ASCII = /^[ -~]*$/;
const WHOLE = /^([+-]?)0*(\d{1,18})$/;
// A number of JSON is kept as it is written: beyond 2^53 JavaScript knows another one.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARK = `number ${Math.random()} `; // which no answer can know

export class NoValue extends Error {}

class Digits {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

// Return headers by their names in lower case.
export function headersOf(headers) {
  const fields = {};
  for (const name of Object.keys(headers)) fields[name.toLowerCase()] = headers[name];
  return fields;
}

// Return the cookies that an answer sets, by name; null for a cookie that it ends.
export function setCookies(joined) {
  const cookies = new Map();
  for (const line of joined === undefined ? [] : joined.split(APART)) {
    const match = line.length <= LONGEST ? COOKIE.exec(line) : null;
    if (match !== null) cookies.set(match[1], ENDED.test(match[3] || "") ? null : match[2]);
  }
  return cookies;
}

// Return the cookies of a flow after an answer.
export function withCookies(cookies, fresh) {
  const both = [...new Map([...cookies, ...fresh])].filter(([, value]) => value !== null);
  return new Map(both.slice(-MOST_COOKIES));
}

// Return the values that a step takes of its answer. Throws NoValue.
export function takenOf(takes, headers, cookies, body) {
  const values = {};
  for (const [name, where] of Object.entries(takes)) {
    const at = where.indexOf(":");
    const [source, rest] = [where.slice(0, at), where.slice(at + 1)];
    let value;
    if (source === "cookie") value = cookies.get(rest);
    else if (source === "header") value = headers[rest.toLowerCase()];
    else if (source === "regex") value = (new RegExp(rest).exec(looked(body)) || [])[1];
    else value = pointed(documentOf(looked(body)), rest);
    values[name] = sound(value, where);
  }
  return values;
}

function looked(body) {
  if ((body || "").length > LARGEST_BODY) {
    throw new NoValue(`the answer has more than ${LARGEST_BODY >> 10} KiB`);
  }
  return body || "";
}

function sound(value, where) {
  if (value === undefined || value === null) throw new NoValue(`the answer has no value at '${where}'`);
  if (typeof value !== "string" && !(value instanceof Digits)) {
    throw new NoValue(`the value at '${where}' is neither a text nor a number`);
  }
  const text = String(value);
  const length = text.length > LONGEST ? [...text].length : text.length;
  if (length > LONGEST) {
    throw new NoValue(`the value at '${where}' has ${length} characters: ${LONGEST} at most`);
  }
  if (UNPRINTABLE.test(text) || !paired(text)) {
    throw new NoValue(`the value at '${where}' has a control character`);
  }
  return value;
}

function paired(text) {
  try {
    return encodeURIComponent(text) !== null;
  } catch (error) {
    return false; // half of a surrogate pair
  }
}

function documentOf(body) {
  try {
    return JSON.parse(
      body.replace(TOKEN, (token) => (token[0] === '"' ? token : `"${MARK}${token}"`)),
    );
  } catch (error) {
    throw new NoValue("the answer is not JSON");
  }
}

// Return the value at a JSON pointer (RFC 6901); undefined where there is none.
function pointed(document, pointer) {
  let value = document;
  for (const escaped of pointer.slice(1).split("/")) {
    const step = escaped.replace(/~1/g, "/").replace(/~0/g, "~");
    const there = typeof value === "object" && value !== null;
    if (!there || (Array.isArray(value) && !/^(?:0|[1-9][0-9]{0,8})$/.test(step))) return undefined;
    value = Object.prototype.hasOwnProperty.call(value, step) ? value[step] : undefined;
  }
  const number = typeof value === "string" && value.startsWith(MARK);
  return number ? new Digits(value.slice(MARK.length)) : value;
}

// Return the request of a step. Throws NoValue where a value cannot stand there.
export function nextRequest(step, values, cookies, extra) {
  let path = written(step.path, values);
  if (step.path[0] === "/") path = `/${path.replace(/^\/+/, "")}`;
  const headers = {};
  for (const [name, pieces] of step.headers) headers[name] = written(pieces, values);
  Object.assign(headers, fieldsOf(extra.split("\r\n").filter((line) => line)));
  if (cookies.size > 0) {
    headers.Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }
  const body = step.body === null ? null : written(step.body, values);
  return { method: step.method, path, headers, body };
}

function written(pieces, values) {
  return pieces
    .map((piece) => (typeof piece === "string" ? piece : PLACES[piece[1]](values[piece[0]])))
    .join("");
}

function percents(value) {
  return encodeURIComponent(String(value)).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function inHeader(value) {
  if (!ASCII.test(String(value))) throw new NoValue("a value for a header is not printable ASCII");
  return String(value);
}

function inRawPath(value) {
  const text = inHeader(value);
  if (text.includes(" ")) throw new NoValue("a value for a path has a blank");
  // k6 parses the URL, and leaves such a request out.
  if (/#|%(?![0-9A-Fa-f]{2})/.test(text)) throw new NoValue("a value for a path is not of a URL");
  return text;
}

function quoted(text) {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function inWhole(value) {
  const match = WHOLE.exec(String(value));
  if (match === null) throw new NoValue(`'${String(value).slice(0, 40)}' is not a whole number`);
  return match[1] === "-" && match[2] !== "0" ? `-${match[2]}` : match[2];
}

const PLACES = {
  path: percents,
  "raw path": inRawPath,
  header: inHeader,
  json: (value) => quoted(String(value)).slice(1, -1),
  "json value": (value) => (value instanceof Digits ? value.text : quoted(value)),
  form: (value) => percents(value).replace(/%20/g, "+"),
  text: String,
  integer: inWhole,
};
