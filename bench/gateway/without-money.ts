/**
 * A preload that takes money and limits out of the way of a chat request, and nothing else; what is
 * left is the gateway called `free`, and what it costs less is what money and limits add.
 *
 * Gone: the account's look-up, the need, limits, budgets, hold, cost, receipt and the wait for it,
 * sums by hour, x-ratelimit headers. Left, because it is the call's own or next to nothing: the key,
 * the model with the price in force, the question for an Idempotency-Key, the cap that goes
 * upstream, usage as the reply tells it, the closures that an admission hangs on. The store with its
 * accounts and keys is the same, and so is what is in memory.
 */
import { moneyEdits } from "./gateway-edits.ts";
import { installEdits } from "./source-edits.ts";

installEdits(moneyEdits);
