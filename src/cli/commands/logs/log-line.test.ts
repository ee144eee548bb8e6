import { expect, test } from "bun:test";
import { readLogLine } from "./log-line.ts";
import { readLines } from "./read-lines.ts";

const ours =
  '{"time":"2026-03-01T12:00:00.000Z","level":"warn","message":"request failed","request_id":"req_1","attempts":2}';
const record = {
  kind: "record",
  atMs: Date.UTC(2026, 2, 1, 12),
  level: "warn",
  message: "request failed",
  fields: { request_id: "req_1", attempts: 2 },
};

test.each([
  ["as it was written", ours],
  ["behind a journal's prefix", `Mar 01 12:00:00 host svc[42]: ${ours}`],
  ["behind compose's prefix", `gateway-1  | ${ours}`],
  ["in an entry of journald", JSON.stringify({ PRIORITY: "6", MESSAGE: ours })],
  ["in an entry of Docker", JSON.stringify({ log: `${ours}\n`, stream: "stderr" })],
])("reads a line %s", (_, line) => expect(readLogLine(line)).toMatchObject(record));

test.each([
  "",
  "svc gateway listens",
  "{",
  "{}",
  "[1]",
  '{"time":"yesterday","level":"warn","message":"x"}',
  '{"time":"2026-03-01T12:00:00.000Z","level":"loud","message":"x"}',
  '{"time":"2026-03-01T12:00:00.000Z","level":"warn","message":7}',
  '{"log":"{\\"log\\":\\"{}\\"}"}',
])("keeps what is not a line of the log as text: %s", (line) =>
  expect(readLogLine(line)).toEqual({ kind: "text", text: line }),
);

test("keeps values that are not plain as JSON", () => {
  expect(readLogLine(ours.replace("2}", '{"a":[1]}}'))).toMatchObject({
    fields: { attempts: '{"a":[1]}' },
  });
});

async function linesOf(...pieces: readonly string[]): Promise<readonly string[]> {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return Array.fromAsync(readLines(stream));
}

test("splits a text into lines, wherever its pieces end", async () => {
  expect(await linesOf("a\r\nb", "c\n", "\nd")).toEqual(["a", "bc", "", "d"]);
  expect(await linesOf()).toEqual([]);
});

test("an endless line does not fill the memory", async () => {
  const lines = await linesOf(...Array.from({ length: 40 }, () => "x".repeat(10_000)), "\nshort");
  expect(lines.map(({ length }) => length)).toEqual([65_536, 5]);
});
