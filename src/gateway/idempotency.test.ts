import { expect, test } from "bun:test";
import { createLog } from "../base/log.ts";
import { Journal } from "../ledger/journal.ts";
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
