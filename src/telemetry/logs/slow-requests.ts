import type { Log } from "../../base/log.ts";
import { RateLimit } from "../../base/rate-limit.ts";
import type { Receipt } from "../../ledger/receipt.ts";

/** Where everything is slow, some lines tell as much as all of them. */
const mostPerSecond = 5;

/**
 * One line for each call whose caller waited too long: for the first byte, or where none came, for
 * the end. The length of a stream does not count. Reads receipts that are already written.
 */
export function watchSlowRequests(options: {
  readonly leastMs: number;
  readonly log: Pick<Log, "warn">;
  readonly nowMs?: () => number;
}): (receipt: Receipt) => void {
  const { leastMs, log, nowMs } = options;
  const rate = new RateLimit(mostPerSecond, nowMs);
  let left = 0;
  return (receipt) => {
    const waitedMs = receipt.firstByteMs ?? receipt.durationMs;
    if (waitedMs < leastMs) return;
    if (!rate.admits()) {
      left++;
      return;
    }
    log.warn("slow request", { ...toFields(receipt), ...(left === 0 ? {} : { not_logged: left }) });
    left = 0;
  };
}

function toFields(receipt: Receipt) {
  const { id, accountId, keyId, model, endpoint, provider, outcome, durationMs } = receipt;
  const phases = phasesOf(receipt);
  return {
    event: "slow_request",
    request_id: id,
    account_id: accountId,
    key_id: keyId,
    endpoint,
    model,
    provider: provider === "" ? undefined : provider,
    code: outcome === "ok" || outcome === "left" ? undefined : outcome,
    attempts: receipt.attempts.filter(({ provider }) => provider !== "").length,
    first_byte_ms: receipt.firstByteMs,
    duration_ms: durationMs,
    ...phases,
  };
}

/**
 * `before_ms`: reading the request, limits, the hold; `retries_ms`: attempts that failed, and the
 * pauses after them; `provider_ms`: the last attempt up to the first byte; `reply_ms`: from there to
 * the end.
 */
function phasesOf({ attempts, firstByteMs, durationMs }: Receipt) {
  const startOf = (at: number) => Math.min(attempts.at(at)?.startedMs ?? durationMs, durationMs);
  const beforeMs = startOf(0);
  const lastMs = Math.max(beforeMs, startOf(-1));
  const firstMs = Math.max(lastMs, firstByteMs ?? durationMs);
  return {
    before_ms: beforeMs,
    retries_ms: lastMs - beforeMs,
    provider_ms: firstMs - lastMs,
    reply_ms: Math.max(0, durationMs - firstMs),
  };
}
