/**
 * The gateway called `free`: nothing is limited, held or charged. It differs from the gateway in the
 * billing that it is given, and in nothing else; what it costs less is what money and limits add.
 *
 * Gone: the account's look-up, limits, budgets, hold, cost, receipt and the wait for it, sums by
 * hour, x-ratelimit headers. Left: the key, the model with its current price, the worst case of the
 * call, the check for an Idempotency-Key, the cap that goes upstream.
 */
import type { Billing, ReserveOptions } from "../../src/gateway/billing/billing.ts";
import type { CallCharge } from "../../src/gateway/billing/charge.ts";
import type { Need } from "../../src/ledger/need.ts";
import { Pot } from "../../src/ledger/purse.ts";
import type { Purse } from "../../src/ledger/purses.ts";
import { serve } from "./serve.ts";

const settled = Promise.resolve();
const noPurse: Purse = {
  account: { id: "", name: "", createdAtMs: 0 },
  pot: new Pot(0n),
};

/** What a call says to its charge, answered and forgotten; a reply waits for nothing. */
class FreeCharge implements CallCharge {
  readonly cap: number;
  measure: CallCharge["measure"];
  readonly isSettled = true;
  readonly isTaken = true;
  readonly keepsReply = false;
  readonly attempts = 0;
  readonly provider = undefined;

  constructor(cap: number) {
    this.cap = cap;
  }

  begin(): void {}

  readonly accepted = ignore;

  deliver(): void {}

  settle(): Promise<void> {
    return settled;
  }

  close(): Promise<void> {
    return settled;
  }
}

function ignore(): void {}

const freeBilling: Billing = {
  enter: () => noPurse,
  reserve: (_options: ReserveOptions, need: Need) => new FreeCharge(need.cap),
  check: () => {},
};

await serve({ billing: freeBilling });
