import { toDateText } from "../../base/dates.ts";
import { idTimeMs } from "../../base/ids.ts";
import type { KeyName } from "../../keys/directory.ts";
import type { Rejection } from "../../rejections/rejection.ts";
import type { RejectionView } from "./schemas.ts";

/** Callers and members are not told which models exist that they cannot call. */
export function toRejectionView(options: {
  readonly rejection: Rejection;
  /** By their ids. */
  readonly keys: ReadonlyMap<string, KeyName>;
  readonly forOperator: boolean;
}): RejectionView {
  const { rejection, keys, forOperator } = options;
  const { id, accountId, keyId, model, endpoint, status, code, message, reason, count } = rejection;
  const key = keys.get(keyId);
  return {
    id,
    at: toDateText(idTimeMs(id)),
    account: accountId,
    key: keyId,
    key_name: key?.name ?? null,
    key_hint: key?.hint ?? null,
    model: model === "" ? null : model,
    endpoint: endpoint === "" ? null : endpoint,
    dialect: rejection.dialect === "" ? null : rejection.dialect,
    status,
    code,
    message,
    ...(forOperator ? { reason: reason === "" ? null : reason } : {}),
    count,
  };
}
