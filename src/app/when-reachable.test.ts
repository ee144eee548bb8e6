import { expect, test } from "bun:test";
import { createLog } from "../base/log.ts";
import { NoAnswerError } from "../store/postgres/client.ts";
import { whenReachable } from "./when-reachable.ts";

const settings = { databaseUrl: "postgres://127.0.0.1/svc" };

function setUp(failures: readonly Error[]) {
  const lines: unknown[] = [];
  const log = createLog({
    level: "info",
    pretty: false,
    write() {},
    onRecord: ({ message }) => void lines.push(message),
  });
  const left = [...failures];
  const work = async () => {
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    return "done";
  };
  const pauses: number[] = [];
  const pause = async (ms: number) => void pauses.push(ms);
  return { lines, pauses, work, options: { settings, log, pause } };
}

const silent = new NoAnswerError({ answerMs: 1, totalMs: 2 }, true);

test("a start whose port is open waits for a database that goes away, and logs it once", async () => {
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  const wrapped = new Error("cannot read", {
    cause: new Error("Connection terminated unexpectedly"),
  });
  const { lines, pauses, work, options } = setUp([silent, refused, wrapped]);
  expect(await whenReachable(options, work)).toBe("done");
  expect(pauses).toEqual([1_000, 1_000, 1_000]);
  expect(lines).toEqual(["the database went away during the start, which goes on when it is back"]);
});

test("what does not pass by itself ends the start", async () => {
  const denied = Object.assign(new Error("permission denied"), { code: "42501" });
  const { pauses, work, options } = setUp([denied]);
  await expect(whenReachable(options, work)).rejects.toBe(denied);
  const sqlite = setUp([silent]);
  const elsewhere = { ...sqlite.options, settings: { databaseUrl: "" } };
  await expect(whenReachable(elsewhere, sqlite.work)).rejects.toBe(silent);
  expect(pauses).toEqual([]);
});
