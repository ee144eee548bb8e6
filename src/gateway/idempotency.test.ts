import { describe, expect, test } from "bun:test";
import { createLog } from "../base/log.ts";
import { Journal } from "../ledger/journal.ts";
import type { Claim, LedgerWrite } from "../ledger/store.ts";
import { Idempotency, keptMs, OpenClaim } from "./idempotency.ts";

const log = createLog({ level: "silent", pretty: false, write: () => {} });
const body = new Uint8Array(900_000);
const caller = { secret: "s", claimKey: "c", accountId: "acct_1" };
const request = { ...caller, header: "k", path: "chat", body: {}, bytesHash: undefined };
/** Nothing is stored, and all is written. */
const open = (findClaim: () => Promise<Claim | undefined> = async () => undefined) =>
  new Idempotency({
    ledger: { findClaim },
    journal: new Journal({ store: { commit: async () => {} }, log }),
  });

test("an account fills a bounded part of the disk with kept replies, and no other account's", async () => {
  const idempotency = open();
  let count = 0;
  const isKept = async (accountId: string, nowMs: number) => {
    const header = `key-${++count}`;
    const claim = await idempotency.open({ ...request, accountId, header, requestId: "r", nowMs });
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

describe("who waits for a key that is about to be free", () => {
  interface Scene {
    readonly first: OpenClaim;
    readonly open: (requestId: string) => Promise<unknown>;
    /** The store has written what is in line. */
    readonly confirm: () => Promise<void>;
  }

  async function begin(options: { readonly fails?: boolean } = {}): Promise<Scene> {
    const commits: PromiseWithResolvers<void>[] = [];
    const stored = new Map<string, Claim>();
    let isFailing = false;
    const commit = async (writes: readonly LedgerWrite[]) => {
      const written = Promise.withResolvers<void>();
      commits.push(written);
      await written.promise;
      if (isFailing) throw new Error("disk full");
      for (const write of writes)
        if (write.type === "claim") stored.set(write.claim.id, write.claim);
        else if (write.type === "claim-release") stored.delete(write.id);
    };
    const journal = new Journal({ store: { commit }, log, patienceMs: 0, retryMs: 1_000_000 });
    const ledger = { findClaim: async (id: string) => stored.get(id) };
    const idempotency = new Idempotency({ ledger, journal });
    const open = (requestId: string) => idempotency.open({ ...request, requestId, nowMs: 0 });
    const confirm = async () => {
      await new Promise(setImmediate);
      commits.pop()?.resolve();
      await new Promise(setImmediate);
    };
    const first = await open("first");
    if (!(first instanceof OpenClaim)) throw new Error("nothing was kept before");
    const persisted = first.persist();
    await confirm();
    await persisted;
    isFailing = options.fails === true;
    return { first, open, confirm };
  }

  /** Heard at once: a refusal that nobody listens to would end the test run. */
  const refused = (opening: Promise<unknown>) => opening.catch((error: unknown) => error);
  const winners = async (opening: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(opening)).filter(({ status }) => status === "fulfilled").length;

  test("is told that it is in use while nobody has said that it ends, and has it then", async () => {
    const { first, open, confirm } = await begin();
    expect(await refused(open("second"))).toMatchObject({ code: "idempotency_in_progress" });
    // The caller hears of the failure; its receipt is being counted, then written.
    first.ending();
    const third = open("third");
    await new Promise(setImmediate);
    first.close();
    await confirm();
    expect(await third).toBeInstanceOf(OpenClaim);
  });

  test("is one of many: the others are told that it is in use", async () => {
    const { first, open, confirm } = await begin();
    first.ending();
    const won = winners(Array.from({ length: 100 }, (_, at) => open(`later ${at}`)));
    first.close();
    await confirm();
    expect(await won).toBe(1);
  });

  test("waits although nobody has said before that it ends", async () => {
    const { first, open, confirm } = await begin();
    first.close();
    const second = open("second");
    await new Promise(setImmediate);
    await confirm();
    expect(await second).toBeInstanceOf(OpenClaim);
  });

  test("is told where the first one is done after all", async () => {
    const { first, open } = await begin();
    first.ending();
    const second = refused(open("second"));
    first.done(undefined);
    first.close();
    // What is written of it goes with the receipt, which there is none of here.
    expect(await second).toMatchObject({
      code: "idempotency_in_progress",
      firstRequestId: "first",
    });
  });

  test("is told that the ledger cannot be written where it cannot", async () => {
    const { first, open, confirm } = await begin({ fails: true });
    first.ending();
    const second = refused(open("second"));
    first.close();
    await confirm();
    expect(await second).toMatchObject({ code: "store_unavailable" });
  });
});

test("a claim that cannot be read is a 503 to try again, and leaves its key free", async () => {
  const answers = [
    Promise.reject(new Error("sent nothing for 5000 ms")),
    Promise.resolve(undefined),
  ];
  const findClaim = () => answers.shift() ?? Promise.resolve(undefined);
  const idempotency = open(findClaim);
  const ask = () => idempotency.open({ ...request, requestId: "r", nowMs: 0 });
  await expect(ask()).rejects.toMatchObject({ code: "store_unavailable", retryAfterMs: 1_000 });
  expect(await ask()).toBeInstanceOf(OpenClaim);
});

test("of several at the same moment one has the key", async () => {
  const idempotency = open();
  const opening = ["a", "b", "c"].map((requestId) =>
    idempotency.open({ ...request, requestId, nowMs: 0 }),
  );
  const told = await Promise.allSettled(opening);
  expect(told.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
});
