/** Billings without money, in place of the ledger's: one that still limits, and one that does not. */

import type {
  Billing,
  LedgerBillingDependencies,
  ReserveOptions,
} from "../../src/gateway/billing/billing.ts";
import type { CallCharge, Measured } from "../../src/gateway/billing/charge.ts";
import type { Exchange } from "../../src/gateway/exchange.ts";
import type { KeyRecord } from "../../src/keys/directory.ts";
import type { Need } from "../../src/ledger/need.ts";
import { Pot } from "../../src/ledger/purse.ts";
import type { Purse } from "../../src/ledger/purses.ts";
import type { Permit } from "../../src/limits/permit.ts";
import type { LimitRequest } from "../../src/limits/request-limiter.ts";

type BillingModule = typeof import("../../src/gateway/billing/billing.ts");
type PermitModule = typeof import("../../src/limits/permit.ts");
type Dependencies = Pick<LedgerBillingDependencies, "limiter" | "clock">;

const settled = Promise.resolve();
const noPurse: Purse = { account: { id: "", name: "", createdAtMs: 0 }, pot: new Pot(0n) };

interface UnpaidOptions {
  readonly cap: number;
  readonly call: ReserveOptions["call"];
  readonly permit: Permit | undefined;
  readonly dependencies: Dependencies | undefined;
}

/** Looks whether the caller has left, where a charge does, and gives back what the limits gave. */
class UnpaidCharge implements CallCharge {
  readonly cap: number;
  measure: CallCharge["measure"];
  readonly isSettled = true;
  readonly isTaken = true;
  readonly keepsReply = false;
  readonly attempts = 0;
  readonly provider = undefined;
  readonly #options: UnpaidOptions;

  constructor(options: UnpaidOptions) {
    this.#options = options;
    this.cap = options.cap;
  }

  begin(): void {
    this.#checkCaller();
  }

  readonly accepted = (): void => this.#options.call.heard();

  deliver(): void {}

  settle({ units }: Measured): Promise<void> {
    this.#checkCaller();
    const { permit, dependencies } = this.#options;
    if (permit !== undefined && dependencies !== undefined)
      dependencies.limiter.release(
        permit,
        (units.input ?? 0) + (units.output ?? 0),
        dependencies.clock.nowMs(),
      );
    return settled;
  }

  close(): Promise<void> {
    return settled;
  }

  #checkCaller(): void {
    if (this.#options.call.isLeft) throw new Error("the caller left");
  }
}

/** Without budgets, hold, cost and receipt. */
export function limitedBilling(
  { LedgerBilling, checkStanding }: BillingModule,
  permitModule: PermitModule,
): new (
  dependencies: LedgerBillingDependencies,
) => Billing {
  return class implements Billing {
    readonly #real: Billing;
    readonly #dependencies: LedgerBillingDependencies;

    constructor(dependencies: LedgerBillingDependencies) {
      this.#real = new LedgerBilling(dependencies);
      this.#dependencies = dependencies;
    }

    enter(exchange: Exchange, key: KeyRecord): Purse | Promise<Purse> {
      return this.#real.enter(exchange, key);
    }

    reserve(options: ReserveOptions, need: Need, tokens: number): CallCharge {
      const { exchange, purse, call } = options;
      const dependencies = this.#dependencies;
      const nowMs = dependencies.clock.nowMs();
      checkStanding(purse);
      const wanted = { ...ownersOf(options), tokens, nowMs };
      const permit = dependencies.limiter.takeTokens(exchange.permit, wanted);
      if (permit !== undefined && !(permit instanceof permitModule.Permit))
        throw new Error("a limit was reached");
      exchange.heldBody?.admitted();
      exchange.permit = undefined;
      return new UnpaidCharge({ cap: need.cap, call, permit, dependencies });
    }

    check(): void {}
  };
}

/** Without limits, too, and without the account. */
export const unlimitedBilling = class implements Billing {
  enter(): Purse {
    return noPurse;
  }

  reserve({ call }: ReserveOptions, { cap }: Need): CallCharge {
    return new UnpaidCharge({ cap, call, permit: undefined, dependencies: undefined });
  }

  check(): void {}
};

function ownersOf({
  key,
  purse: { account },
}: Pick<ReserveOptions, "key" | "purse">): Omit<LimitRequest, "nowMs"> {
  return {
    key: { id: key.id, kind: "key", limits: key.limits },
    account: { id: account.id, kind: "account", limits: account.limits },
  };
}
