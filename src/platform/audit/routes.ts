import { type AuditQuery, type AuditRecord, anOperator } from "../../base/audit.ts";
import { toDateText } from "../../base/dates.ts";
import { csvLine } from "../../base/text/csv.ts";
import { type Context, route } from "../context.ts";
import { csvReply } from "../http/csv-reply.ts";
import { fields, type Input } from "../http/schemas.ts";
import { accountNames, toMoment } from "../input/values.ts";
import {
  type AuditRow,
  accountFilter,
  accountQuery,
  filters,
  operatorQuery,
  pageReply,
} from "./schemas.ts";

/** Who changed what, the newest first. */
export const auditRoutes = [
  route("GET /api/accounts/:account/audit", {
    about: "Lists the audit records of an account, newest first.",
    access: "owner",
    area: "audit",
    query: accountQuery,
    reply: pageReply,
    handle: (context, { query }) => readPage(context, { ...query, account: context.account.id }),
  }),
  route("GET /api/accounts/:account/audit.csv", {
    about: "Exports the audit records of an account as CSV, newest first.",
    access: "owner",
    area: "audit",
    query: fields(filters),
    contentType: "text/csv",
    handle: (context, { query }) => toCsv(context, { ...query, account: context.account.id }),
  }),
  route("GET /api/audit", {
    about: "Lists all audit records, newest first.",
    access: "operator",
    area: "audit",
    query: operatorQuery,
    reply: pageReply,
    handle: (context, { query }) => readPage(context, query),
  }),
  route("GET /api/audit.csv", {
    about: "Exports all audit records as CSV, newest first.",
    access: "operator",
    area: "audit",
    query: fields({ ...filters, ...accountFilter }),
    contentType: "text/csv",
    handle: (context, { query }) => toCsv(context, query),
  }),
] as const;

type Asked = Input<typeof operatorQuery>;

const pageSize = 50;
const csvPage = 1_000;

async function readPage(context: Context, asked: Asked) {
  const { dependencies, isOperator } = context;
  const { audit, accounts } = dependencies;
  const query = { ...toQuery(asked, isOperator), after: given(asked.after), limit: pageSize };
  const { records, after } = await audit.list(query);
  const ids = new Set(records.flatMap(({ accountId }) => accountId ?? []));
  const named = await Promise.all(Array.from(ids, async (id) => await accounts.find(id)));
  const names = new Map(named.flatMap((one) => (one === undefined ? [] : [[one.id, one.name]])));
  return {
    records: records.map((record) => toRow(record, { names, isOperator })),
    after: after ?? null,
  };
}

const columns = [
  "id",
  "at",
  "actor_kind",
  "actor",
  "address",
  "action",
  "subject",
  "account",
  "account_name",
] as const satisfies readonly (keyof AuditRow)[];

async function toCsv(context: Context, asked: Asked): Promise<Response> {
  const { dependencies, isOperator } = context;
  const query = { ...toQuery(asked, isOperator), limit: csvPage };
  const names = await accountNames(dependencies.accounts);
  return csvReply(context, {
    file: "audit.csv",
    header: [...columns, "detail"],
    async read(after) {
      const page = await dependencies.audit.list({ ...query, after });
      const rows = page.records.map((record) => toRow(record, { names, isOperator }));
      const lines = rows.map((row) =>
        csvLine([...columns.map((name) => row[name]), JSON.stringify(row.detail)]),
      );
      return { lines, after: page.after };
    },
  });
}

/** Members learn that an operator did it, not who, and not from where. */
function toRow(
  record: AuditRecord,
  { names, isOperator }: { readonly names: ReadonlyMap<string, string>; isOperator: boolean },
): AuditRow {
  const isHidden = record.actor.kind === "operator" && !isOperator;
  return {
    id: record.id,
    at: toDateText(record.atMs),
    actor_kind: record.actor.kind,
    actor: isHidden ? anOperator : record.actor.name,
    account: record.accountId ?? null,
    account_name: names.get(record.accountId ?? "") ?? null,
    action: record.action,
    subject: record.subject,
    detail: record.detail,
    address: isHidden ? "" : record.address,
  };
}

function toQuery(asked: Asked, isOperator: boolean): Omit<AuditQuery, "limit"> {
  const moment = (name: "from" | "to") => {
    const text = given(asked[name]);
    return text === undefined ? undefined : toMoment(text, name);
  };
  return {
    accountId: given(asked.account),
    action: given(asked.action),
    actor: given(asked.actor),
    subject: given(asked.subject),
    search: given(asked.search),
    fromMs: moment("from"),
    toMs: moment("to"),
    hidesOperators: !isOperator,
  };
}

/** A form sends what was not filled in as empty: it filters nothing. */
function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}
