import { expect, test } from "bun:test";
import { createLog } from "../base/log.ts";
import { Journal } from "../ledger/journal.ts";
import type { Claim, LedgerWrite } from "../ledger/store.ts";
import { Idempotency, keptMs, OpenClaim } from "./idempotency.ts";

const log = createLog({ level: "silent", pretty: false, write: () => {} });
const body = new Uint8Array(900_000);

test("an account fills a bounded part of the disk with kept replies, and no other account's", async () => {
  const journal = new Journal({ store: { commit: async () => {} }, log });
  const idempotency = new Idempotency({ ledger: { findClaim: async () => undefined }, journal });
  let count = 0;
  const isKept = async (accountId: string, nowMs: number) => {
    const header = `key-${++count}`;
    const request = { secret: "s", accountId, header, path: "chat", body: {}, requestId: "r" };
    const claim = await idempotency.open({ ...request, nowMs });
    if (!(claim instanceof OpenClaim)) throw new Error("nothing was kept before");
    return claim.done({ contentType: "audio/pcm", body }).reply !== undefined;
  };
  const fits = Math.floor((64 * 1024 * 1024) / body.length);
  for (let at = 0; at < fits; at++) expect(await isKept("acct_1", at)).toBe(true);
  expect(await isKept("acct_1", fits)).toBe(false);
  expect(await isKept("acct_2", fits)).toBe(true);
  expect(await isKept("acct_1", keptMs - 1)).toBe(false);
  expect(await isKept("acct_1", keptMs)).toBe(true);
});

test("a key that is about to be free is waited for, and is not said to be in use", async () => {
  const commits: PromiseWithResolvers<void>[] = [];
  const stored = new Map<string, Claim>();
  const commit = async (writes: readonly LedgerWrite[]) => {
    const written = Promise.withResolvers<void>();
    commits.push(written);
    await written.promise;
    for (const write of writes)
      if (write.type === "claim") stored.set(write.claim.id, write.claim);
      else if (write.type === "claim-release") stored.delete(write.id);
  };
  const journal = new Journal({ store: { commit }, log });
  const ledger = { findClaim: async (id: string) => stored.get(id) };
  const idempotency = new Idempotency({ ledger, journal });
  const request = { secret: "s", accountId: "acct_1", header: "k", path: "chat", body: {} };
  const open = (requestId: string) => idempotency.open({ ...request, requestId, nowMs: 0 });
  const confirm = async () => {
    await new Promise(setImmediate);
    commits.pop()?.resolve();
  };

  const first = await open("first");
  if (!(first instanceof OpenClaim)) throw new Error("nothing was kept before");
  const persisted = first.persist();
  await confirm();
  await persisted;
  expect(open("second")).rejects.toMatchObject({ code: "idempotency_in_progress" });
  // The caller hears of the failure; its receipt is being counted, then written.
  first.ending();
  const third = open("third");
  await new Promise(setImmediate);
  first.close();
  await confirm();
  expect(await third).toBeInstanceOf(OpenClaim);
});
