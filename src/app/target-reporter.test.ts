import { expect, test } from "bun:test";
import { healthOf } from "../../test/store/catalog-samples.ts";
import type { TargetHealth } from "../catalog/health.ts";
import { reportTargets } from "./target-reporter.ts";

test("a state that changes is written at once, and again if that failed; counts alone are not", async () => {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const target = healthOf();
  const states: TargetHealth[] = [
    target,
    healthOf({ requests: 2 }),
    healthOf({ requests: 3 }),
    healthOf({ state: "open", requests: 4 }),
  ];
  const written: (readonly TargetHealth[])[] = [];
  const { promise: isOpen, resolve: onOpen } = Promise.withResolvers<void>();
  let tries = 0;
  const ticker = reportTargets({
    health: () => [states.length > 1 ? (states.shift() ?? target) : (states[0] ?? target)],
    async write(targets) {
      tries++;
      if (targets[0]?.state === "open" && tries === 2) throw new Error("no connection");
      written.push(targets);
      if (targets[0]?.state === "open") onOpen();
    },
    log,
    everyMs: 1,
  });
  await isOpen;
  await ticker.close();
  expect(written.map(([one]) => [one?.state, one?.requests])).toEqual([
    ["closed", 1],
    ["open", 4],
  ]);
  expect(tries).toBe(3);
});
