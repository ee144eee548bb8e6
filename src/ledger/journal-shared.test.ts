import { describe, expect, test } from "bun:test";
import { diskFull, setUp, turn, watch } from "../../test/store/journal-samples.ts";
import { claimOf, receiptOf, write } from "../../test/store/ledger-samples.ts";
import { ClaimsLostError, type LedgerWrite, type ReceiptWrite, UnconfirmedError } from "./store.ts";

const receiptWrite = (id: string) => write(receiptOf({ id }));

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
