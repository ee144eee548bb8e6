import { Type } from "../../base/json/type.ts";
import { csvLine } from "../../base/text/csv.ts";
import { endpoints } from "../../call/endpoint.ts";
import { mostCounted, type Rejection } from "../../rejections/rejection.ts";
import {
  callFilters,
  csvPage,
  given,
  pageEnd,
  pageEndReply,
  toCallFilters,
  usualLimit,
} from "../calls/filters.ts";
import { type Context, route } from "../context.ts";
import { csvReply } from "../http/csv-reply.ts";
import { fields, type Input, oneOf, text } from "../http/schemas.ts";
import { type RejectionView, rejectionReply } from "./schemas.ts";
import { toRejectionView } from "./views.ts";

const filters = {
  ...callFilters,
  endpoint: Type.Optional(oneOf([...endpoints, "models"])),
  code: Type.Optional(text({ most: 60, about: "Error code." })),
  status: Type.Optional(Type.Integer({ minimum: 400, maximum: 499 })),
};
const paging = {
  count: Type.Optional(Type.Boolean({ description: "Whether to count all matches." })),
  after: Type.Optional(text({ most: 60, about: "Cursor from the previous page." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
};
const forOperator = {
  account: Type.Optional(text({ most: 60, about: "Account id." })),
};
const operatorQuery = fields({ ...filters, ...forOperator, ...paging });
type Asked = Input<typeof operatorQuery>;

const pageReply = Type.Object({
  rejections: Type.Array(rejectionReply),
  ...pageEndReply(`${mostCounted} rows`),
});

/** Calls that were refused before admission, and so have no receipt. */
export const rejectionRoutes = [
  route("GET /api/accounts/:account/rejections", {
    about: "Lists the rejected calls of an account from the last 30 days, newest first.",
    access: "viewer",
    area: "usage",
    query: fields({ ...filters, ...paging }),
    reply: pageReply,
    handle: (context, { query }) => readPage(context, { ...query, account: context.account.id }),
  }),
  route("GET /api/accounts/:account/rejections.csv", {
    about: "Exports the rejected calls of an account as CSV, newest first.",
    access: "viewer",
    area: "usage",
    query: fields(filters),
    contentType: "text/csv",
    handle: (context, { query }) => toCsv(context, { ...query, account: context.account.id }),
  }),
  route("GET /api/rejections", {
    about: "Lists the rejected calls of all accounts from the last 30 days, newest first.",
    access: "operator",
    area: "usage",
    query: operatorQuery,
    reply: pageReply,
    handle: (context, { query }) => readPage(context, query),
  }),
  route("GET /api/rejections.csv", {
    about: "Exports the rejected calls of all accounts as CSV, newest first.",
    access: "operator",
    area: "usage",
    query: fields({ ...filters, ...forOperator }),
    contentType: "text/csv",
    handle: (context, { query }) => toCsv(context, query),
  }),
] as const;

async function readPage(context: Context, asked: Asked) {
  const { dependencies, inTurn } = context;
  const { reports } = dependencies;
  const filters = toQuery(asked);
  const query = { ...filters, after: given(asked.after), limit: asked.limit ?? usualLimit };
  const [{ rejections, after }, total] = await Promise.all([
    inTurn(() => reports.rejections(query)),
    asked.count === true ? inTurn(() => reports.countRejections(filters)) : undefined,
  ]);
  return {
    rejections: await toViews(context, rejections),
    ...pageEnd(after, total),
  };
}

async function toViews({ dependencies, isOperator }: Context, found: readonly Rejection[]) {
  const keys = await dependencies.keys.names(found.map(({ keyId }) => keyId));
  return found.map((rejection) => toRejectionView({ rejection, keys, forOperator: isOperator }));
}

const firstColumns = [
  "id",
  "at",
  "account",
  "key",
  "key_name",
  "model",
  "endpoint",
  "status",
  "code",
  "message",
  "count",
] as const satisfies readonly (keyof RejectionView)[];
// The newest last: scripts may count columns.
const memberColumns = [...firstColumns, "dialect"] as const;
const operatorColumns = [...firstColumns, "reason", "dialect"] as const;

async function toCsv(context: Context, asked: Asked): Promise<Response> {
  const { dependencies, inTurn, isOperator } = context;
  const columns: readonly (keyof RejectionView)[] = isOperator ? operatorColumns : memberColumns;
  const query = { ...toQuery(asked), limit: csvPage };
  return csvReply(context, {
    file: "rejections.csv",
    header: columns,
    async read(cursor) {
      const page = await inTurn(() => dependencies.reports.rejections({ ...query, after: cursor }));
      const rows = await toViews(context, page.rejections);
      const lines = rows.map((row) => csvLine(columns.map((name) => row[name] ?? null)));
      return { lines, after: page.after };
    },
  });
}

function toQuery(asked: Asked) {
  return { ...toCallFilters(asked), code: given(asked.code) };
}
