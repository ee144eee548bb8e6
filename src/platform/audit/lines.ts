import type { AuditRecord } from "../../base/audit.ts";
import { toDateText } from "../../base/dates.ts";
import { lineEncoder, type RowEncoder } from "../../exports/part.ts";

const linesVersion = 1;

/** One JSON object per audit record, as operators see it. */
export const auditLines = (): RowEncoder<AuditRecord> =>
  lineEncoder((record) => ({
    version: linesVersion,
    id: record.id,
    at: toDateText(record.atMs),
    actor_kind: record.actor.kind,
    actor_id: record.actor.id,
    actor: record.actor.name,
    address: record.address,
    account_id: record.accountId ?? null,
    action: record.action,
    subject: record.subject,
    detail: record.detail,
  }));
