// The records of a stream, from its file and its index.
import { b64decode, b64encode } from "k6/encoding";

const ENTRY = 16; // bytes: offset (8), length (4), kind (2), number of later steps (2)
const SIZE = 4; // bytes of the length before a later step
const MOST_HEADS = 1000; // that a user keeps
// What k6 writes itself.
const OWN = ["content-length", "connection"];
const heads = new Map();

// Text of UTF-8: k6 has no TextDecoder, and this way both halves are native code.
function decoded(buffer) {
  return b64decode(b64encode(buffer), "std", "s");
}

// Return number of the kind, text of the request, and texts of the later steps of each record. They
// are parsed when they are sent: as objects, 200,000 records take a gigabyte.
export function recordsOf(stream, index) {
  const entries = new DataView(index);
  const sizes = new DataView(stream);
  const whole = decoded(stream);
  const ascii = whole.length === stream.byteLength; // else places are not those of bytes
  const text = (from, to) => (ascii ? whole.slice(from, to) : decoded(stream.slice(from, to)));
  const records = [];
  for (let at = 0; at < index.byteLength; at += ENTRY) {
    const offset = entries.getUint32(at, true) + entries.getUint32(at + 4, true) * 2 ** 32;
    let end = offset + entries.getUint32(at + 8, true);
    const record = [entries.getUint16(at + 12, true), text(offset, end)];
    for (let left = entries.getUint16(at + 14, true); left > 0; left -= 1) {
      const size = sizes.getUint32(end, true);
      record.push(text(end + SIZE, end + SIZE + size));
      end += SIZE + size;
    }
    records.push(record);
  }
  return records;
}

// Return the request of a record.
export function requestOf(record) {
  const first = record.indexOf("\r\n");
  const last = record.indexOf("\r\n\r\n");
  const [method, path] = record.slice(0, first).split(" ");
  const lines = record.slice(first + 2, last);
  if (!heads.has(lines)) {
    if (heads.size === MOST_HEADS) heads.clear(); // users who log in have heads of their own
    heads.set(lines, fieldsOf(lines.split("\r\n")));
  }
  const body = last + 4 < record.length ? record.slice(last + 4) : null;
  return { method, path, headers: heads.get(lines), body };
}

// Return the headers of lines.
export function fieldsOf(lines) {
  const fields = {};
  for (const line of lines) {
    const at = line.indexOf(": ");
    if (!OWN.includes(line.slice(0, at).toLowerCase())) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  return fields;
}
