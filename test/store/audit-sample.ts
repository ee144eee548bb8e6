import type { AuditRecord } from "../../src/base/audit.ts";
import { newId } from "../../src/base/ids.ts";

/** What goes with a write that a test makes by itself. */
export function auditOf(told: Partial<AuditRecord> = {}): AuditRecord {
  const atMs = told.atMs ?? 1;
  return {
    id: newId("audit", atMs),
    atMs,
    actor: { kind: "command", id: "", name: "test" },
    action: "test.write",
    subject: "a test",
    detail: {},
    address: "",
    ...told,
  };
}
