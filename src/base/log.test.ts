import { expect, test } from "bun:test";
import { createLog, type LogRecord } from "./log.ts";

function open(pretty: boolean, level: "debug" | "warn" = "debug") {
  const lines: string[] = [];
  const records: LogRecord[] = [];
  const log = createLog({
    level,
    pretty,
    write: (line) => lines.push(line),
    fields: { worker: "a/1" },
    onRecord: (record) => records.push(record),
  });
  return { log, lines, records };
}

test("each line is a value, too, with the same fields", () => {
  const { log, lines, records } = open(false);
  log.warn("it failed", { code: "x", absent: undefined, none: null, count: 0 });
  const [record] = records;
  expect(record).toMatchObject({ level: "warn", message: "it failed" });
  expect(record?.fields).toEqual({ worker: "a/1", code: "x", none: null, count: 0 });
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    time: new Date(record?.atMs ?? 0).toISOString(),
    level: "warn",
    message: "it failed",
    ...record?.fields,
  });
});

test("what is below the level is neither a line nor a value", () => {
  const { log, lines, records } = open(false, "warn");
  log.info("hello");
  expect([lines, records]).toEqual([[], []]);
});

test("a line on a terminal cannot control it, or look like two", () => {
  const { log, lines } = open(true);
  log.error("a\x1b[2Jb", { detail: "c\nd\u202ee", "n\x07": 1 });
  const [line = ""] = lines;
  expect(Bun.stripANSI(line)).toMatch(
    /^\d\d:\d\d:\d\d error a\\u\{1b\}\[2Jb worker=a\/1 detail=c\\nd\\u\{202e\}e n\\u\{7\}=1\n$/,
  );
});
