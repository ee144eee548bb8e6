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
        description: "person, operator, token or command (of the command line).",
      }),
      actor: Type.String({ description: "As it was called then." }),
      account: nullable(Type.String()),
      action: Type.String({ description: "Such as key.create." }),
      subject: Type.String({ description: "The id or name of what was changed." }),
      detail: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object" }),
      address: Type.String(),
    }),
  ),
  after: nullable(Type.String({ description: "For the next page; null at the end." })),
});

const query = fields({
  action: Type.Optional(text({ most: 60 })),
  after: Type.Optional(text({ most: 60 })),
});

/** Who changed what, the newest first. */
export const auditRoutes = [
  route("GET /api/accounts/:account/audit", {
    about: "What was changed in an account, and by whom.",
    access: "owner",
    area: "audit",
    query,
    reply: page,
    handle: ({ dependencies, account, isOperator }, { query: asked }) =>
      readPage(dependencies, { ...asked, accountId: account.id }, isOperator),
  }),
  route("GET /api/audit", {
    about: "What was changed anywhere, and by whom.",
    access: "operator",
    area: "audit",
    query,
    reply: page,
    handle: ({ dependencies }, { query: asked }) => readPage(dependencies, asked, true),
  }),
] as const;

const pageSize = 50;

async function readPage(
  { audit }: PlatformDependencies,
  asked: Omit<AuditQuery, "limit">,
  isForOperator: boolean,
) {
  // Members learn that an operator did it, not who, and not from where.
  const isHidden = ({ actor }: AuditRecord) => actor.kind === "operator" && !isForOperator;
  const records = await audit.list({ ...asked, limit: pageSize });
  return {
    records: records.map((record) => ({
      id: record.id,
      at: toDateText(record.atMs),
      actor_kind: record.actor.kind,
      actor: isHidden(record) ? "an operator" : record.actor.name,
      account: record.accountId ?? null,
      action: record.action,
      subject: record.subject,
      detail: record.detail,
      address: isHidden(record) ? "" : record.address,
    })),
    after: records.length === pageSize ? (records.at(-1)?.id ?? null) : null,
  };
}
