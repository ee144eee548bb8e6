import { expect, test } from "bun:test";
import { receiptOf } from "../../test/store/ledger-samples.ts";
import { probeStore, Reopening } from "./reopening.ts";

test("the pauses double while a store refuses writes, and are short again after a receipt", () => {
  const reopening = new Reopening({ retryMs: 50, nowMs: () => 0 });
  const pauses = Array.from({ length: 9 }, () => {
    reopening.failed(true);
    // A probe succeeds each time.
    reopening.succeeded(false);
    return reopening.pauseMs;
  });
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  reopening.succeeded(true);
  expect(reopening.pauseMs).toBe(50);
});

test("a server that was away admits all calls as soon as it answers", () => {
  const reopening = new Reopening({ retryMs: 50, nowMs: () => 0 });
  for (let at = 0; at < 5; at++) reopening.failed(false);
  expect(reopening.pauseMs).toBe(50);
  reopening.succeeded(false);
  expect([reopening.admits(), reopening.admits()]).toEqual([true, true]);
});

test("a probe tries the receipts that were refused before it takes a small write for a success", async () => {
  const seen: string[] = [];
  const commit = async () => void seen.push("commit");
  const rehearse = async () => {
    seen.push("rehearse");
    throw new Error("no space left");
  };
  const refused = [receiptOf({})];
  await expect(probeStore({ commit, rehearse }, 0, refused)).rejects.toThrow("no space left");
  await probeStore({ commit }, 0, refused);
  expect(seen).toEqual(["rehearse", "commit", "commit"]);
});
