import { Type } from "typebox";
import type { AuditQuery, AuditRecord } from "../../base/audit.ts";
import { toDateText } from "../../base/dates.ts";
import { type PlatformDependencies, route } from "../context.ts";
import { fields, moment, nullable, text } from "../http/schemas.ts";

const page = Type.Object({
  records: Type.Array(
    Type.Object({
      id: Type.String(),
      at: moment(),
      actor_kind: Type.String({
        description: "person, operator, token or command (the command line).",
      }),
      actor: Type.String({ description: "Name of the actor at that time." }),
      account: nullable(Type.String()),
      account_name: nullable(Type.String({ description: "Current name of the account." })),
      action: Type.String({ description: "For example key.create." }),
      subject: Type.String({ description: "Id or name of the changed object." }),
      detail: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" }),
      address: Type.String(),
    }),
  ),
  after: nullable(Type.String({ description: "Cursor for the next page; null on the last page." })),
});

const query = fields({
  action: Type.Optional(text({ most: 60 })),
  after: Type.Optional(text({ most: 60 })),
});

/** Who changed what, the newest first. */
export const auditRoutes = [
  route("GET /api/accounts/:account/audit", {
    about: "Lists the audit records of an account, newest first.",
    access: "owner",
    area: "audit",
    query,
    reply: page,
    handle: ({ dependencies, account, isOperator }, { query: asked }) =>
      readPage(dependencies, { ...asked, accountId: account.id }, isOperator),
  }),
  route("GET /api/audit", {
    about: "Lists all audit records, newest first.",
    access: "operator",
    area: "audit",
    query,
    reply: page,
    handle: ({ dependencies }, { query: asked }) => readPage(dependencies, asked, true),
  }),
] as const;

const pageSize = 50;

async function readPage(
  { audit, accounts }: PlatformDependencies,
  asked: Omit<AuditQuery, "limit">,
  isForOperator: boolean,
) {
  // Members learn that an operator did it, not who, and not from where.
  const isHidden = ({ actor }: AuditRecord) => actor.kind === "operator" && !isForOperator;
  const records = await audit.list({ ...asked, limit: pageSize });
  const ids = new Set(records.flatMap(({ accountId }) => accountId ?? []));
  const named = await Promise.all(Array.from(ids, async (id) => await accounts.find(id)));
  const names = new Map(named.flatMap((one) => (one === undefined ? [] : [[one.id, one.name]])));
  return {
    records: records.map((record) => ({
      id: record.id,
      at: toDateText(record.atMs),
      actor_kind: record.actor.kind,
      actor: isHidden(record) ? "an operator" : record.actor.name,
      account: record.accountId ?? null,
      account_name: names.get(record.accountId ?? "") ?? null,
      action: record.action,
      subject: record.subject,
      detail: record.detail,
      address: isHidden(record) ? "" : record.address,
    })),
    after: records.length === pageSize ? (records.at(-1)?.id ?? null) : null,
  };
}
