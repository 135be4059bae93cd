// The records of a stream, from its file and its index.
import { b64decode, b64encode } from "k6/encoding";

const ENTRY = 16; // bytes: offset (8), length (4), kind (2), number of later steps (2)
const SIZE = 4; // bytes of the length before a later step
// What k6 writes itself.
const OWN = ["content-length", "connection"];

// Text of UTF-8: k6 has no TextDecoder, and this way both halves are native code.
function text(buffer, from, to) {
  return b64decode(b64encode(buffer.slice(from, to)), "std", "s");
}

// Names and values of header lines.
export function fieldsOf(lines) {
  const fields = {};
  for (const line of lines) {
    const at = line.indexOf(": ");
    if (!OWN.includes(line.slice(0, at).toLowerCase())) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  return fields;
}

// Return number of the kind, method, path, headers, body and later steps of each record.
export function recordsOf(stream, index) {
  const entries = new DataView(index);
  const sizes = new DataView(stream);
  const records = [];
  for (let at = 0; at < index.byteLength; at += ENTRY) {
    const offset = entries.getUint32(at, true) + entries.getUint32(at + 4, true) * 2 ** 32;
    let end = offset + entries.getUint32(at + 8, true);
    const kind = entries.getUint16(at + 12, true);
    const record = text(stream, offset, end);
    const head = record.indexOf("\r\n\r\n");
    const [first, ...lines] = record.slice(0, head).split("\r\n");
    const [method, path] = first.split(" ");
    const body = head + 4 < record.length ? record.slice(head + 4) : null;
    const later = [];
    for (let left = entries.getUint16(at + 14, true); left > 0; left -= 1) {
      const size = sizes.getUint32(end, true);
      later.push(JSON.parse(text(stream, end + SIZE, end + SIZE + size)));
      end += SIZE + size;
    }
    records.push([kind, method, path, fieldsOf(lines), body, later]);
  }
  return records;
}
