/** A call that costs nothing and is not limited: what stands in the place of money in `free`. */
import type { Usage } from "../../src/call/usage.ts";
import { usualOutputTokens } from "../../src/catalog/model.ts";
import type { Charge, Measured } from "../../src/gateway/billing/charge.ts";
import type { AdmitOptions } from "../../src/gateway/billing/reserve.ts";
import type { ChatNeed } from "../../src/gateway/endpoints/chat/chat-money.ts";
import type { Need } from "../../src/ledger/need.ts";
import { Pot } from "../../src/ledger/purse.ts";
import type { Purse } from "../../src/ledger/purses.ts";
import type { ChatOrder } from "../../src/wire/v1/chat/call.ts";

const settled = Promise.resolve();
/** In place of the caller's own. */
export const noPurse: Purse = {
  account: { id: "", name: "", createdAtMs: 0 },
  pot: new Pot(0n),
};

const nothing: Measured = { units: {}, reasoningTokens: 0, estimated: false };

/** In place of `enter`: no limit is looked at. */
export function enter(): void {}

/** In place of `admit`: no account is looked at, no limit, no hold is taken. */
export function admit(_options: AdmitOptions, need: Need, _tokens: number): FreeCharge {
  return new FreeCharge(need.cap);
}

/** In place of `chatNeed`: the prompt is not weighed; the cap still goes upstream. */
export function chatNeed({ order }: { readonly order: ChatOrder }): ChatNeed {
  const { call, isCapNamed } = order;
  const cap = call.maxOutputTokens ?? usualOutputTokens;
  const need = { units: {}, fixed: 0n, perToken: 0n, cap, isCapNamed };
  return { need, tokens: 0, isShortened: false };
}

/** In place of `measured`: nobody will read it. */
export function measured(_usage: Usage): Measured {
  return nothing;
}

/** What a call says to its charge, answered and forgotten; a reply waits for nothing. */
class FreeCharge implements Pick<Charge, keyof Charge> {
  readonly cap: number;
  measure: Charge["measure"];
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
