import { expect, test } from "bun:test";
import type { Claim } from "../../src/ledger/store.ts";
import { auditOf } from "./audit-sample.ts";
import type { Opened } from "./ledger-samples.ts";
import { claimOf, entryOf, receiptOf } from "./ledger-samples.ts";

/** Requests with an Idempotency-Key. */
export function claimTests(opened: () => Opened): void {
  const ledger = () => opened().store.ledger;
  const put = (claim: Claim) => ledger().commit([{ type: "claim", claim }]);

  test("a claim is kept as it is put, and is done with its reply together with the receipt", async () => {
    await ledger().addEntry(entryOf(), auditOf());
    await put(claimOf());
    expect(await ledger().findClaim("claim_1")).toEqual(claimOf());
    expect(await ledger().findClaim("claim_2")).toBeUndefined();
    const reply = new Uint8Array([0, 1, 255]);
    const done = claimOf({
      isDone: true,
      reply,
      requestId: "req_2",
      bodyHash: "b",
      expiresAtMs: 9,
    });
    const receipt = receiptOf();
    await ledger().commit([{ type: "receipt", receipt, hold: { budgets: [] }, claim: done }]);
    expect(await ledger().findClaim("claim_1")).toEqual(done);
    const reader = await opened().database.openReader();
    expect(await reader.receipt(receipt.id)).toEqual(receipt);
    await reader.close();
  });

  test("only a claim that is running can be released", async () => {
    await put(claimOf());
    await put(claimOf({ id: "claim_2", isDone: true }));
    for (const id of ["claim_1", "claim_2", "claim_3"])
      await ledger().commit([{ type: "claim-release", id }]);
    expect(await ledger().findClaim("claim_1")).toBeUndefined();
    expect(await ledger().findClaim("claim_2")).toEqual(claimOf({ id: "claim_2", isDone: true }));
  });

  test("what a process that is gone had under way is released, and what was done stays", async () => {
    for (const at of [1, 2, 3]) await put(claimOf({ id: `claim_${at}`, isDone: at === 2 }));
    const next = await opened().database.open();
    await next.ledger.releaseRunningClaims();
    const found = await Promise.all([1, 2, 3].map((at) => next.ledger.findClaim(`claim_${at}`)));
    expect(found.map((claim) => claim?.id)).toEqual([undefined, "claim_2", undefined]);
    await next.close();
  });

  test("claims past their day are erased, some at a time, and no others", async () => {
    const old = Array.from({ length: 620 }, (_, at) =>
      claimOf({ id: `old_${at}`, expiresAtMs: 50 }),
    );
    const claims = [...old, claimOf({ id: "young", expiresAtMs: 51 })];
    await ledger().commit(claims.map((claim) => ({ type: "claim", claim })));
    const erased: number[] = [];
    do erased.push(await ledger().eraseClaims(50));
    while (erased.at(-1) !== 0);
    expect(erased.reduce((sum, count) => sum + count, 0)).toBe(620);
    expect(erased.length).toBeGreaterThan(2);
    expect(await ledger().findClaim("old_7")).toBeUndefined();
    expect(await ledger().findClaim("young")).toBeDefined();
  });
}
