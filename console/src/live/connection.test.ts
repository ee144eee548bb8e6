import { expect, test } from "bun:test";
import { Connection } from "./connection.ts";

/** A platform that can be stopped, and a clock that is moved by hand. */
function home() {
  let isRunning = true;
  let build = "one";
  let probes = 0;
  const waiting: { action: () => void; ms: number }[] = [];
  const answer = () => new Response("", { headers: build === "" ? {} : { "x-svc-build": build } });
  const connection = new Connection({
    probe: async () => {
      probes += 1;
      if (!isRunning) throw new TypeError("refused");
      return answer();
    },
    isOnline: () => true,
    ownBuild: () => "one",
    later: (action, ms) => waiting.push({ action, ms }),
  });
  const states: string[] = [];
  connection.subscribe(() => states.push(connection.state));
  return {
    connection,
    states,
    answer,
    stop: () => {
      isRunning = false;
    },
    start: (as = build) => {
      isRunning = true;
      build = as;
    },
    probes: () => probes,
    waits: () => waiting.map(({ ms }) => ms),
    pass: async () => {
      waiting.shift()?.action();
      await connection.check();
    },
  };
}

test("a failed request changes nothing if a probe succeeds", async () => {
  const { connection, states, probes } = home();
  expect(await connection.check()).toBe(true);
  expect(states).toEqual([]);
  expect(probes()).toBe(1);
});

test("tries again by itself until the platform answers, and less and less often", async () => {
  const { connection, states, stop, start, pass, waits } = home();
  stop();
  expect(await connection.check()).toBe(false);
  const up = connection.untilUp();
  const seen: number[] = [];
  for (let at = 0; at < 8; at++) {
    expect(waits().length).toBe(1);
    seen.push(waits()[0] ?? 0);
    await pass();
  }
  expect(seen[0]).toBe(1_000);
  expect(Math.max(...seen)).toBe(4_000);
  start();
  await pass();
  await up;
  expect(states).toEqual(["unreachable", "connected"]);
});

test("concurrent checks share one probe", async () => {
  const { connection, probes } = home();
  await Promise.all([connection.check(), connection.check(), connection.check()]);
  expect(probes()).toBe(1);
});

test("another build is offered, and not when a proxy answers for the platform", async () => {
  const { connection, start, answer } = home();
  connection.heard(answer());
  expect(connection.newBuild).toBeUndefined();
  start("two");
  connection.heard(answer());
  expect(connection.newBuild).toBe("two");
  start("");
  connection.heard(answer());
  expect(connection.newBuild).toBe("two");
  start("one");
  connection.heard(answer());
  expect(connection.newBuild).toBeUndefined();
});
