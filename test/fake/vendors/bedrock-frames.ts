/** Amazon's binary event frames: a prelude with the lengths, headers, a body, and two checksums. */

import { crc32 } from "node:zlib";

const stringType = 7;

export function bedrockFrame(headers: Readonly<Record<string, string>>, body: unknown): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(toHeader));
  const payload = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(12 + head.length + payload.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  const unsigned = Buffer.concat([prelude, checksum(prelude), head, payload]);
  return Buffer.concat([unsigned, checksum(unsigned)]);
}

function toHeader([name, value]: readonly [string, string]): Buffer {
  const text = Buffer.from(value);
  const before = Buffer.from([name.length, ...Buffer.from(name), stringType, 0, 0]);
  before.writeUInt16BE(text.length, before.length - 2);
  return Buffer.concat([before, text]);
}

function checksum(bytes: Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes), 0);
  return sum;
}

export function bedrockEvent(type: string, body: unknown): Buffer {
  return bedrockFrame(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    body,
  );
}

export function bedrockException(type: string, message: string): Buffer {
  return bedrockFrame(
    { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" },
    { message },
  );
}
