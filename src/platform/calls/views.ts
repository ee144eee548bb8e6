import { toDateText } from "../../base/dates.ts";
import { idTimeMs } from "../../base/ids.ts";
import { toUsd } from "../../base/money.ts";
import type { KeyName } from "../../keys/directory.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { replyStatus } from "../../ledger/reply-status.ts";
import type { Rejection, RejectionReason } from "../../rejections/rejection.ts";

/** A call that was admitted and has a receipt, or one that was rejected and has none. */
export interface CallView {
  readonly id: string;
  readonly at: string;
  readonly kind: "admitted" | "rejected";
  /** Its id. */
  readonly account: string;
  readonly account_name: string | null;
  /** Its id. */
  readonly key: string;
  /** Its name, or its masked secret; null for a temporary key. */
  readonly key_name: string | null;
  readonly model: string | null;
  readonly endpoint: string | null;
  /** Of a call to a chat model. */
  readonly dialect: string | null;
  /** Of an admitted call. */
  readonly provider: string | null;
  /** `ok`, `left` (the caller disconnected) or an error code. */
  readonly outcome: string;
  /** HTTP status; null where the caller disconnected before the reply. */
  readonly status: number | null;
  /** Of a rejected call: what the caller got. */
  readonly message: string | null;
  /** Of a call to a model that could not be called: why. */
  readonly reason: RejectionReason | null;
  readonly charged_usd: string;
  readonly duration_ms: number | null;
  /** How many calls a line stands for. */
  readonly count: number;
}

/** By their ids. */
export interface CallNames {
  readonly accounts: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, KeyName>;
}

function keyNameOf(keyId: string, { keys }: CallNames): string | null {
  const key = keys.get(keyId);
  return key === undefined ? null : key.name || key.hint;
}

export function fromReceipt(receipt: Receipt, names: CallNames): CallView {
  const { id, accountId, keyId, model, endpoint, provider, outcome, charged } = receipt;
  return {
    id,
    at: toDateText(idTimeMs(id)),
    kind: "admitted",
    account: accountId,
    account_name: names.accounts.get(accountId) ?? null,
    key: keyId,
    key_name: keyNameOf(keyId, names),
    model,
    endpoint,
    dialect: receipt.dialect ?? null,
    provider: provider === "" ? null : provider,
    outcome,
    status: replyStatus(receipt) ?? null,
    message: null,
    reason: null,
    charged_usd: toUsd(charged),
    duration_ms: receipt.durationMs,
    count: 1,
  };
}

export function fromRejection(rejection: Rejection, names: CallNames): CallView {
  const { id, accountId, keyId, model, endpoint, status, code, message, reason, count } = rejection;
  return {
    id,
    at: toDateText(idTimeMs(id)),
    kind: "rejected",
    account: accountId,
    account_name: names.accounts.get(accountId) ?? null,
    key: keyId,
    key_name: keyNameOf(keyId, names),
    model: model === "" ? null : model,
    endpoint: endpoint === "" ? null : endpoint,
    dialect: rejection.dialect === "" ? null : rejection.dialect,
    provider: null,
    outcome: code,
    status,
    message,
    reason: reason === "" ? null : reason,
    charged_usd: toUsd(0n),
    duration_ms: null,
    count,
  };
}
