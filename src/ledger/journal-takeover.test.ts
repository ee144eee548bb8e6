import { describe, expect, test } from "bun:test";
import { diskFull, release, setUp, turn, watch } from "../../test/store/journal-samples.ts";
import { claimOf, receiptOf, write } from "../../test/store/ledger-samples.ts";
import { maxBatch } from "./journal.ts";
import {
  ClaimsLostError,
  FencedError,
  type LedgerWrite,
  NotSyncedError,
  type ReceiptWrite,
  UnconfirmedError,
} from "./store.ts";

const receiptWrite = (id: string) => write(receiptOf({ id }));

describe("a store that another process has taken over", () => {
  test("is offered what is in line once, and lets no call in", async () => {
    const { journal, next, commits, lines } = setUp();
    const first = watch(journal.append(receiptWrite("a"), true));
    const commit = await next();
    const others = [watch(journal.append(receiptWrite("b"))), watch(journal.append(release("c")))];
    commit.fail(new FencedError());
    const last = await next();
    expect(last.ids).toEqual(["b", "c"]);
    expect(journal.isFailing).toBe(true);
    last.fail(new Error("the store is away as well"));
    await turn();
    expect([first, ...others].map(({ now }) => now)).toEqual(Array(3).fill("taken back"));
    const late = watch(journal.append(receiptWrite("d")));
    journal.probe();
    (await next()).fail(new FencedError());
    await turn();
    expect(late.now).toBe("taken back");
    expect(await journal.idle(1_000)).toEqual([]);
    expect({ commits, lines }).toEqual({ commits: [], lines: [] });
  });

  test("still releases what stood before it, and stays closed after", async () => {
    const { journal, next } = setUp();
    const before = watch(journal.append(receiptWrite("a")));
    const one = await next();
    const rest = Array.from({ length: maxBatch }, (_, at) =>
      watch(journal.append(release(`w${at}`))),
    );
    (await next()).fail(new FencedError());
    await turn();
    expect(new Set(rest.map(({ now }) => now))).toEqual(new Set(["taken back"]));
    one.succeed();
    await turn();
    expect(before.now).toBe("written");
    expect(journal.isFailing).toBe(true);
  });

  test("is asked to undo what may stand though its caller got an error, until it has answered", async () => {
    const { journal, next, failNext } = setUp();
    const state = watch(journal.append(receiptWrite("a"), true));
    await failNext(new UnconfirmedError("no answer"));
    (await next()).fail(new FencedError());
    await turn();
    expect(state.now).toBe("taken back");
    await failNext(new UnconfirmedError("no answer again"));
    const undone = await next();
    expect(undone.ids).toEqual(["void a"]);
    undone.fail(new FencedError());
    await turn();
    expect(await journal.idle(1_000)).toEqual([]);
  });

  test("takes back nothing that stands and was never confirmed", async () => {
    const { journal, next, failNext } = setUp();
    const state = watch(journal.append(receiptWrite("a"), true));
    await failNext(new NotSyncedError("disk"));
    (await next()).fail(new FencedError());
    await turn();
    expect(state.now).toBe("owed");
  });
});

describe("a journal that is asked to probe", () => {
  test("writes as much as a receipt needs, and fails until that succeeds", async () => {
    const { journal, next, failNext, lines } = setUp();
    journal.probe();
    await failNext();
    expect(journal.isFailing).toBe(true);
    const again = await next();
    expect(again.ids).toEqual(["probe"]);
    again.succeed();
    (await next()).succeed();
    await turn();
    expect(journal.isFailing).toBe(false);
    expect(lines.map((line) => line.split(":")[0])).toEqual(["error", "info"]);
  });
});

describe("a store that several processes share", () => {
  const patienceMs = 1_000;

  test("tells of claims that others have: those alone fail, and the store is well", async () => {
    const { journal, next } = setUp();
    const claim: LedgerWrite = { type: "claim", claim: claimOf() };
    const lost = journal.append(claim, true);
    const receipt = watch(journal.append(receiptWrite("a")));
    (await next()).fail(new ClaimsLostError([claim]));
    await expect(lost).rejects.toBeInstanceOf(ClaimsLostError);
    expect(receipt.now).toBe("written");
    expect(journal.isFailing).toBe(false);
  });

  test("does not answer: what may stand is asked for again, and taken out when nobody waits any more", async () => {
    const { journal, next, failNext, clock } = setUp();
    const unconfirmed = new UnconfirmedError("no answer", { cause: new Error("timeout") });
    const whole = receiptWrite("whole") as ReceiptWrite;
    const waiting = watch(journal.append(whole, true));
    const owed = watch(journal.append(receiptWrite("owed")));
    await failNext(unconfirmed);
    clock.ms += patienceMs;
    await failNext(unconfirmed);
    expect([waiting.now, owed.now]).toEqual(["taken back", "owed"]);
    // The reply of the first was never sent; of the second, a part was.
    const last = await next();
    expect(last.ids).toEqual(["void whole", "owed"]);
    last.succeed();
    await turn();
    expect(journal.isFailing).toBe(false);
  });

  test("refuses a batch outright: what was never written is taken back without a trace", async () => {
    const { journal, next, failNext, clock } = setUp();
    const waiting = watch(journal.append(receiptWrite("whole"), true));
    await failNext(diskFull);
    clock.ms += patienceMs;
    await failNext(diskFull);
    expect(waiting.now).toBe("taken back");
    expect((await next()).ids).toEqual(["probe"]);
  });
});
