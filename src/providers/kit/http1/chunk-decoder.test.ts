import { describe, expect, test } from "bun:test";
import { ChunkDecoder } from "./chunk-decoder.ts";
import { MalformedReplyError } from "./reply-head.ts";

/** What a decoder makes of packets: the body, and what follows it. */
function decode(...packets: readonly (string | Uint8Array)[]) {
  const decoder = new ChunkDecoder();
  const pieces: Buffer[] = [];
  let rest = "";
  for (const packet of packets) {
    // The decoder changes what it is given.
    const bytes = Buffer.from(packet);
    if (decoder.isDone) rest += bytes.toString("latin1");
    else {
      decoder.push(bytes);
      pieces.push(bytes.subarray(decoder.start, decoder.end));
      rest = bytes.subarray(bytes.length - decoder.restBytes).toString("latin1");
    }
  }
  return { body: Buffer.concat(pieces).toString(), isDone: decoder.isDone, rest };
}

const long = "x".repeat(300);
const event = 'data: {"choices":[{"delta":{"content":"Grüße 👋"}}]}\n\n';
const eventSize = Buffer.byteLength(event).toString(16);

const recorded = {
  "one chunk": { bytes: "5\r\nhello\r\n0\r\n\r\n", body: "hello" },
  "no chunk": { bytes: "0\r\n\r\n", body: "" },
  "chunks of one byte": { bytes: "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n", body: "abc" },
  "short and long chunks": {
    bytes: `2\r\nab\r\n12c\r\n${long}\r\n3\r\ncde\r\n0\r\n\r\n`,
    body: `ab${long}cde`,
  },
  "events that are not ASCII": {
    bytes: `${eventSize}\r\n${event}\r\n${eventSize}\r\n${event}\r\n0\r\n\r\n`,
    body: event + event,
  },
  "data that looks like frames": {
    bytes: "7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n",
    body: "0\r\n\r\n\r\n",
  },
  "sizes in upper case": {
    bytes: `A\r\n0123456789\r\n12C\r\n${long}\r\n0\r\n\r\n`,
    body: `0123456789${long}`,
  },
  "sizes with leading zeros": { bytes: "0000000005\r\nhello\r\n000\r\n\r\n", body: "hello" },
  "sizes with blanks behind": { bytes: "5  \r\nhello\r\n0 \t\r\n\r\n", body: "hello" },
  extensions: { bytes: '5;a=1;b="c"\r\nhello\r\n0;last\r\n\r\n', body: "hello" },
  trailers: { bytes: "5\r\nhello\r\n0\r\nx-a: 1\r\nx-b: 2\r\n\r\n", body: "hello" },
} as const;

describe("a chunked body is the same wherever its packets are cut", () => {
  for (const [name, { bytes, body }] of Object.entries(recorded))
    test(name, () => {
      const whole = Buffer.from(bytes);
      const expected = { body, isDone: true, rest: "" };
      for (let at = 0; at <= whole.length; at++)
        expect(decode(whole.subarray(0, at), whole.subarray(at))).toEqual(expected);
      expect(decode(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected);
    });
});

describe("a chunked body that is cut off", () => {
  for (const [name, { bytes, body }] of Object.entries(recorded))
    test(`is never at its end: ${name}`, () => {
      const whole = Buffer.from(bytes);
      for (let at = 0; at < whole.length; at++) {
        const { isDone, body: part } = decode(whole.subarray(0, at));
        expect(isDone).toBe(false);
        // A cut character is another one.
        expect(body.startsWith(part.replace(/\ufffd+$/, ""))).toBe(true);
      }
    });
});

test("what follows the body is counted, in the packet that ends it", () => {
  const next = "HTTP/1.1 200 OK\r\n\r\n";
  expect(decode(`5\r\nhello\r\n0\r\n\r\n${next}`)).toEqual({
    body: "hello",
    isDone: true,
    rest: next,
  });
  expect(decode("5\r\nhel", "lo\r\n0\r\n\r", "\nx").rest).toBe("x");
});

test("a packet without data has none, whatever came before it", () => {
  const decoder = new ChunkDecoder();
  for (const [packet, data] of [
    ["5\r\nhe", 2],
    ["llo", 3],
    ["\r\n", 0],
    ["", 0],
    ["0\r\n", 0],
    ["\r\n", 0],
  ] as const) {
    decoder.push(Buffer.from(packet));
    expect(decoder.end - decoder.start).toBe(data);
  }
  expect(decoder.isDone).toBe(true);
});

test("thousands of chunks in a packet become one piece", () => {
  const bytes = Buffer.from(`${"1\r\nx\r\n".repeat(20_000)}0\r\n\r\n`);
  const decoder = new ChunkDecoder();
  decoder.push(bytes);
  expect(decoder.isDone).toBe(true);
  expect(bytes.subarray(decoder.start, decoder.end).toString()).toBe("x".repeat(20_000));
});

describe("a chunked body is malformed", () => {
  for (const [name, bytes] of [
    ["without a size", "\r\nhello\r\n"],
    ["with a size that is not hexadecimal", "5g\r\nhello"],
    ["with a negative size", "-5\r\nhello"],
    ["with a prefixed size", "0x5\r\nhello"],
    ["with a blank before the size", " 5\r\nhello"],
    ["with an extension and no size", ";a=1\r\nhello"],
    ["with words behind its size", "5 garbage\r\nhello"],
    ["with digits behind spaces", "5 5\r\nhello"],
    ["with a size of 11 digits", "00000000005\r\nhello"],
    ["with a size that no memory holds", "fffffffffff\r\n"],
    ["with a bare LF behind the size", "5\nhello"],
    ["with a bare CR behind the size", "5\rhello"],
    ["with a bare LF behind an extension", "5;a=1\nhello"],
    ["with a bare CR in an extension", "5;a\r=1\r\nhello"],
    ["with more data than its size", "5\r\nhello!\r\n"],
    ["with less data than its size", "5\r\nhell\r\n0\r\n\r\n"],
    ["with a bare LF behind the data", "5\r\nhello\n"],
    ["with a bare CR behind the data", "5\r\nhello\r0\r\n\r\n"],
    ["with a bare LF behind the last chunk", "0\r\n\n"],
    ["with a bare CR behind the last chunk", "0\r\n\rx"],
    ["with a bare LF in a trailer", "0\r\nx-a: 1\n\r\n"],
    ["with a bare CR in a trailer", "0\r\nx-a\r: 1\r\n\r\n"],
  ] as const)
    test(`${name}, however its packets are cut`, () => {
      expect(() => decode(bytes)).toThrow(MalformedReplyError);
      expect(() => decode(...bytes)).toThrow(MalformedReplyError);
    });

  for (const [name, opening, more] of [
    ["an extension", "5;", "a"],
    ["blanks behind a size", "5 ", " "],
    ["a trailer", "0\r\n", "a"],
    ["trailers", "0\r\n", "a:\r\n"],
    ["extensions of many chunks", "", "1;aaaa\r\nx\r\n"],
  ] as const)
    test(`with ${name} without end`, () => {
      const decoder = new ChunkDecoder();
      decoder.push(Buffer.from(opening));
      const packet = more.repeat(1024);
      let sentBytes = 0;
      expect(() => {
        for (; sentBytes < 1024 * 1024; sentBytes += packet.length)
          decoder.push(Buffer.from(packet));
      }).toThrow(MalformedReplyError);
      expect(sentBytes).toBeLessThan(256 * 1024);
    });
});
