import { describe, expect, test } from "bun:test";
import { MalformedReplyError, ReplyHead } from "./reply-head.ts";

const headOf = (...lines: readonly string[]) => new ReplyHead(lines.join("\r\n"));
const ok = "HTTP/1.1 200 OK";

describe("where a reply ends", () => {
  const length = (sizeBytes: number) => ({ kind: "length", sizeBytes });
  const chunked = { kind: "chunked" };
  const close = { kind: "close" };

  for (const [name, lines, framing] of [
    ["a length", [ok, "content-length: 42"], length(42)],
    ["a length in upper case", [ok, "CONTENT-LENGTH:42"], length(42)],
    ["a length in mixed case and blanks", [ok, "Content-Length: \t42\t "], length(42)],
    ["a length of zero", [ok, "content-length: 0"], length(0)],
    ["a length with leading zeros", [ok, "content-length: 0042"], length(42)],
    ["the largest length", [ok, "content-length: 999999999999999"], length(999_999_999_999_999)],
    ["the same length twice", [ok, "content-length: 7", "Content-Length: 7"], length(7)],
    ["the same length twice in one line", [ok, "content-length: 7, 7"], length(7)],
    ["chunks", [ok, "transfer-encoding: chunked"], chunked],
    ["chunks in upper case", [ok, "Transfer-Encoding: Chunked"], chunked],
    ["chunks and a length", [ok, "content-length: 5", "transfer-encoding: chunked"], chunked],
    ["neither", [ok, "content-type: text/plain"], close],
    ["no header at all", [ok], close],
    ["204 without a length", ["HTTP/1.1 204 No Content"], length(0)],
    ["204 with a length", ["HTTP/1.1 204 No Content", "content-length: 5"], length(0)],
    ["304 with a length", ["HTTP/1.1 304 Not Modified", "content-length: 5"], length(0)],
    ["304 with chunks", ["HTTP/1.1 304 Not Modified", "transfer-encoding: chunked"], length(0)],
    ["an interim reply", ["HTTP/1.1 103 Early Hints", "link: </a>"], length(0)],
    ["HTTP/1.0 with a length", ["HTTP/1.0 200 OK", "content-length: 5"], length(5)],
    ["HTTP/1.0 without one", ["HTTP/1.0 200 OK"], close],
    ["names that only look like it", [ok, "x-content-length: 5", "content-lengtH2: 6"], close],
  ] as const)
    test(`is known from ${name}`, () => {
      expect(headOf(...lines).framing).toEqual(framing as ReplyHead["framing"]);
    });

  for (const [name, lines] of [
    ["two lengths", [ok, "content-length: 5", "content-length: 6"]],
    ["two lengths in one line", [ok, "content-length: 5, 6"]],
    ["the same length, written in two ways", [ok, "content-length: 5", "content-length: 05"]],
    ["an empty length", [ok, "content-length:"]],
    ["an empty length beside another", [ok, "content-length: 5,"]],
    ["a negative length", [ok, "content-length: -5"]],
    ["a length with a plus", [ok, "content-length: +5"]],
    ["a hexadecimal length", [ok, "content-length: 0x10"]],
    ["a length with a fraction", [ok, "content-length: 5.0"]],
    ["a length with an exponent", [ok, "content-length: 1e3"]],
    ["a length that no number holds", [ok, "content-length: 9999999999999999"]],
    ["a length in words", [ok, "content-length: five"]],
    ["a length with a no-break space", [ok, "content-length: 5\xa0"]],
    ["a length with another space inside", [ok, "content-length: 5 5"]],
    ["another coding", [ok, "transfer-encoding: gzip"]],
    ["another coding below chunks", [ok, "transfer-encoding: gzip, chunked"]],
    ["another coding above chunks", [ok, "transfer-encoding: chunked, identity"]],
    ["chunks twice", [ok, "transfer-encoding: chunked", "transfer-encoding: chunked"]],
    ["an empty coding", [ok, "transfer-encoding:"]],
    ["a coding that only looks like chunks", [ok, "transfer-encoding: xchunked"]],
    ["chunks with a no-break space", [ok, "transfer-encoding: \xa0chunked"]],
    ["chunks in HTTP/1.0", ["HTTP/1.0 200 OK", "transfer-encoding: chunked"]],
  ] as const)
    test(`is not known from ${name}, which is malformed`, () => {
      expect(() => headOf(...lines)).toThrow(MalformedReplyError);
    });
});

describe("whether the connection is kept", () => {
  const body = "content-length: 0";
  const old = "HTTP/1.0 200 OK";
  for (const [name, lines, isKept] of [
    ["HTTP/1.1 keeps it", [ok, body], true],
    ["HTTP/1.1 keeps it with chunks", [ok, "transfer-encoding: chunked"], true],
    ["HTTP/1.1 keeps it without a body", ["HTTP/1.1 204 No Content"], true],
    ["close", [ok, body, "connection: close"], false],
    ["close in upper case", [ok, body, "CONNECTION: CLOSE"], false],
    ["close among others", [ok, body, "connection: foo, close"], false],
    ["close behind a tab", [ok, body, "connection: foo,\tclose"], false],
    ["close in a second line", [ok, body, "connection: foo", "connection: close"], false],
    ["a close in another header means nothing", [ok, body, "x-connection: close"], true],
    ["HTTP/1.0 does not keep it", [old, body], false],
    ["HTTP/1.0 keeps it when it says so", [old, body, "Connection: Keep-Alive"], true],
    ["a body that ends with the connection", [ok], false],
    ["chunks and a length together", [ok, body, "transfer-encoding: chunked"], false],
  ] as const)
    test(name, () => expect(headOf(...lines).isKept).toBe(isKept));

  for (const [value, keptMs] of [
    ["timeout=5", 5_000],
    ["timeout=5, max=100", 5_000],
    ["max=100, Timeout=60", 60_000],
    ["max=100,timeout=0", 0],
    ["max=100", undefined],
    ["mytimeout=5", undefined],
    ["timeout=soon", undefined],
    ["", undefined],
  ] as const)
    test(`for as long as "${value}" says`, () => {
      expect(headOf(ok, `Keep-Alive: ${value}`).keptMs).toBe(keptMs);
    });
});

describe("a head is read", () => {
  test("with any status, with and without a reason", () => {
    expect(headOf("HTTP/1.1 200").status).toBe(200);
    expect(headOf("HTTP/1.1 200 ").status).toBe(200);
    expect(headOf("HTTP/1.1 404 Nicht gefunden: \xfc").status).toBe(404);
    expect(headOf("HTTP/1.0 599 \t").status).toBe(599);
    expect(headOf("HTTP/1.1 100 Continue").status).toBe(100);
  });

  const head = headOf(
    ok,
    "Content-Type: application/json",
    "X-Request-Id:abc",
    "empty:",
    "blank: \t ",
    "set-cookie: a=1",
    "Set-Cookie: b=2; path=/",
    "x: spaced \t value  ",
    "name: J\xfcrgen\xa0",
  );

  test("whose fields are found by their names in lower case, the first of each", () => {
    expect(head.get("content-type")).toBe("application/json");
    expect(head.get("x-request-id")).toBe("abc");
    expect(head.get("set-cookie")).toBe("a=1");
    expect([head.get("empty"), head.get("blank")]).toEqual(["", ""]);
    expect(head.get("x")).toBe("spaced \t value");
    expect(head.get("name")).toBe("J\xfcrgen\xa0");
  });

  test("and none that it does not have", () => {
    for (const name of ["missing", "content", "type", "request-id", "a", "http/1.1 200 ok", ""])
      expect(head.get(name)).toBeNull();
  });

  test("whose fields are listed in their order, repeated ones too", () => {
    expect(head.entries()).toEqual([
      ["content-type", "application/json"],
      ["x-request-id", "abc"],
      ["empty", ""],
      ["blank", ""],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2; path=/"],
      ["x", "spaced \t value"],
      ["name", "J\xfcrgen\xa0"],
    ]);
    expect(headOf(ok).entries()).toEqual([]);
  });
});

describe("a head is malformed", () => {
  for (const [name, text] of [
    ["nothing", ""],
    ["another protocol", "SSH-2.0-OpenSSH_9.6"],
    ["another version", "HTTP/2 200 OK"],
    ["a version of its own", "HTTP/1.2 200 OK"],
    ["a name in lower case", "http/1.1 200 OK"],
    ["a line before it", "\r\nHTTP/1.1 200 OK"],
    ["no status", "HTTP/1.1 OK"],
    ["a short status", "HTTP/1.1 20 OK"],
    ["a long status", "HTTP/1.1 2000 OK"],
    ["a status below 100", "HTTP/1.1 099 OK"],
    ["two spaces before the status", "HTTP/1.1  200 OK"],
    ["a control character in the reason", "HTTP/1.1 200 O\x07K"],
    ["a folded line", `${ok}\r\na: b\r\n c`],
    ["a folded line with a tab", `${ok}\r\na: b\r\n\tc`],
    ["a space before the colon", `${ok}\r\ncontent-length : 5`],
    ["a tab before the colon", `${ok}\r\ncontent-length\t: 5`],
    ["a space before the name", `${ok}\r\n content-length: 5`],
    ["a line without a colon", `${ok}\r\ncontent-length`],
    ["a line without a name", `${ok}\r\n: 5`],
    ["an empty line", `${ok}\r\n\r\na: b`],
    ["a line end behind it", `${ok}\r\na: b\r\n`],
    ["a name in quotes", `${ok}\r\n"a": b`],
    ["a name that is not ASCII", `${ok}\r\n\xfc: b`],
    ["a bare LF", `${ok}\r\na: b\ncontent-length: 5`],
    ["a bare LF behind the status", "HTTP/1.1 200 OK\na: b"],
    ["a bare CR", `${ok}\r\na: b\rcontent-length: 5`],
    ["a NUL in a value", `${ok}\r\na: b\0c`],
    ["a NUL in a name", `${ok}\r\na\0: b`],
    ["a control character in a value", `${ok}\r\na: \x1b[31m`],
    ["a DEL in a value", `${ok}\r\na: \x7f`],
  ] as const)
    test(`with ${name}`, () => {
      expect(() => new ReplyHead(text)).toThrow(MalformedReplyError);
    });

  test("with more than 256 fields", () => {
    const lines = Array.from({ length: 256 }, (_, at) => `x-${at}: ${at}`);
    expect(headOf(ok, ...lines).get("x-255")).toBe("255");
    expect(() => headOf(ok, ...lines, "x-256: 256")).toThrow(MalformedReplyError);
  });

  test("with tens of thousands of fields, which overflow nothing", () => {
    const lines = "\r\na:".repeat(50_000);
    expect(() => new ReplyHead(ok + lines)).toThrow(MalformedReplyError);
    expect(() => new ReplyHead(`${ok}${lines}\0`)).toThrow(MalformedReplyError);
  });
});
