import { expect, test } from "bun:test";
import { receiptOf } from "../../test/store/ledger-samples.ts";
import { probeStore, Reopening } from "./reopening.ts";

const options = { retryMs: 50, roundMs: 1_000 };

test("the pauses double while a store refuses writes, and are short again after a receipt", () => {
  const reopening = new Reopening(options);
  const pauses = Array.from({ length: 9 }, () => {
    reopening.failed(true);
    const { pauseMs } = reopening;
    // A probe succeeds each time.
    reopening.succeeded("probe");
    return pauseMs;
  });
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  reopening.succeeded("receipt");
  expect(reopening.pauseMs).toBe(50);
});

test("a server that was away admits all calls as soon as it answers", () => {
  const reopening = new Reopening(options);
  for (let at = 0; at < 5; at++) reopening.failed(false);
  expect(reopening.pauseMs).toBe(50);
  reopening.succeeded("probe");
  expect([reopening.admits("a"), reopening.admits("a")]).toEqual([true, true]);
});

test("after a refusal, each round admits twice as many calls, and one of each account", () => {
  const reopening = new Reopening(options);
  reopening.failed(true);
  // That it then did not answer is no proof that it takes receipts again.
  reopening.failed(false);
  const rounds = Array.from({ length: 7 }, () => {
    reopening.succeeded("probe");
    // The end of a claim is small.
    reopening.succeeded("other");
    expect(reopening.admits("greedy")).toBe(true);
    expect(reopening.admits("greedy")).toBe(!reopening.isInRounds);
    const others = Array.from({ length: 100 }, (_, at) => reopening.admits(`account ${at}`));
    return others.filter(Boolean).length;
  });
  expect(rounds).toEqual([0, 1, 3, 7, 15, 31, 100]);
});

test("a receipt that stands ends the rounds", () => {
  const reopening = new Reopening(options);
  reopening.failed(true);
  reopening.succeeded("probe");
  expect([reopening.admits("slow"), reopening.admits("quick")]).toEqual([true, false]);
  reopening.succeeded("receipt");
  expect([reopening.admits("slow"), reopening.admits("quick")]).toEqual([true, true]);
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
