import { tryAgainIn } from "../../base/text/try-again.ts";
import { Throttle } from "../../people/throttle.ts";
import { type Actor, actorOf } from "./context.ts";
import { isOperator } from "./entry.ts";
import { Refused } from "./refusal.ts";

const memberLimit = { burst: 100, everyMs: 1_000 };
const operatorLimit = { burst: 1_000, everyMs: 100 };

/**
 * How often one person, or the tokens of one account, may change something. Each change is a write to the ledger's disk
 * and a line of the audit log that is never erased, so their number is limited.
 */
export class ChangeLimits {
  readonly #members = new Throttle(memberLimit);
  readonly #operators = new Throttle(operatorLimit);

  /** Counts one change, or refuses it. All tokens of an account share one count, because more can be created. */
  admit(actor: Actor, nowMs: number): void {
    const name =
      actor.kind === "token" ? `tokens of ${actor.token.accountId ?? ""}` : actorOf(actor).id;
    this.#admit(name, isOperator(actor), nowMs);
  }

  /** A session is a row too. Counted apart, so that no thief of a session keeps its person out. */
  admitSession(user: { readonly id: string; readonly isOperator: boolean }, nowMs: number): void {
    this.#admit(`session of ${user.id}`, user.isOperator, nowMs);
  }

  #admit(name: string, forOperator: boolean, nowMs: number): void {
    const throttle = forOperator ? this.#operators : this.#members;
    const waitMs = throttle.waitMs(name, nowMs);
    if (waitMs > 0) throw tooMany(waitMs, forOperator ? operatorLimit : memberLimit);
    throttle.count(name, nowMs);
  }
}

function tooMany(waitMs: number, { everyMs }: typeof memberLimit): Refused {
  const seconds = Math.ceil(waitMs / 1_000);
  return new Refused({
    status: 429,
    code: "too_many_changes",
    message: `Too many changes. The limit is ${60_000 / everyMs} per minute. ${tryAgainIn(seconds * 1_000)}`,
    headers: { "retry-after": String(seconds) },
  });
}
