import { Type } from "../../base/json/type.ts";
import { Problem } from "../../base/problem.ts";
import { csvLine } from "../../base/text/csv.ts";
import { endpoints } from "../../call/endpoint.ts";
import { mostLooked, type ReceiptFilters } from "../../ledger/reports.ts";
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
import { accountNames } from "../input/values.ts";
import { memberColumns, operatorColumns, type ReceiptNames } from "./columns.ts";
import { fromRankCursor, toRankCursor } from "./rank-cursor.ts";
import { receiptReply, receiptRowReply } from "./schemas.ts";
import { priceOfReceipt, toReceiptRow, toReceiptView } from "./views.ts";

const filters = {
  ...callFilters,
  endpoint: Type.Optional(oneOf(endpoints)),
  outcome: Type.Optional(
    text({ most: 60, about: "ok, left, an error code, or failed for all errors." }),
  ),
  status: Type.Optional(
    Type.Integer({ minimum: 100, maximum: 599, description: "HTTP status of the reply." }),
  ),
};
const paging = {
  sort: Type.Optional(
    oneOf(["time", "cost", "duration"], {
      description: `By cost (the amount charged) or duration, only the newest ${mostLooked} requests are considered.`,
    }),
  ),
  order: Type.Optional(oneOf(["desc", "asc"], { description: "Default: desc." })),
  count: Type.Optional(Type.Boolean({ description: "Whether to count all matches." })),
  after: Type.Optional(text({ most: 160, about: "Cursor from the previous page." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
};
const forOperator = {
  account: Type.Optional(text({ most: 60, about: "Account id." })),
  provider: Type.Optional(text({ most: 100 })),
};
const pageReply = Type.Object({
  requests: Type.Array(receiptRowReply),
  ...pageEndReply(`${mostLooked} requests`),
});

const operatorQuery = fields({ ...filters, ...forOperator, ...paging });
type Asked = Input<typeof operatorQuery>;

/** Receipts: one per request that was admitted. */
export const requestRoutes = [
  route("GET /api/accounts/:account/requests", {
    about: "Lists the requests of an account, newest first.",
    access: "viewer",
    area: "usage",
    query: fields({ ...filters, ...paging }),
    reply: pageReply,
    handle: (context, { query }) => readPage(context, { ...query, account: context.account.id }),
  }),
  route("GET /api/accounts/:account/requests/:id", {
    about: "Shows a request with its timeline, attempts and cost calculation.",
    access: "viewer",
    area: "usage",
    reply: receiptReply,
    handle: (context, { params }) => readOne(context, params.id, context.account.id),
  }),
  route("GET /api/accounts/:account/requests.csv", {
    about: "Exports the requests of an account as CSV, oldest first.",
    access: "viewer",
    area: "usage",
    query: fields(filters),
    contentType: "text/csv",
    handle: (context, { query }) => toCsv(context, { ...query, account: context.account.id }),
  }),
  route("GET /api/requests", {
    about: "Lists the requests of all accounts, newest first.",
    access: "operator",
    area: "usage",
    query: operatorQuery,
    reply: pageReply,
    handle: (context, { query }) => readPage(context, query),
  }),
  route("GET /api/requests/:id", {
    about: "Shows a request of any account with its upstream attempts.",
    access: "operator",
    area: "usage",
    reply: receiptReply,
    handle: (context, { params }) => readOne(context, params.id, undefined),
  }),
  route("GET /api/requests.csv", {
    about: "Exports the requests of all accounts as CSV, oldest first.",
    access: "operator",
    area: "usage",
    query: fields({ ...filters, ...forOperator }),
    contentType: "text/csv",
    handle: (context, { query }) => toCsv(context, query),
  }),
] as const;

async function readPage(context: Context, asked: Asked) {
  const { dependencies, inTurn, isOperator } = context;
  const filters = toFilters(asked);
  const [{ receipts, after }, total] = await Promise.all([
    readSorted(context, asked),
    asked.count === true ? inTurn(() => dependencies.reports.count(filters)) : undefined,
  ]);
  return {
    requests: receipts.map((receipt) => toReceiptRow({ receipt, forOperator: isOperator })),
    ...pageEnd(after, total),
  };
}

async function readSorted({ dependencies: { reports }, inTurn }: Context, asked: Asked) {
  const { sort = "time", order = "desc", limit = usualLimit } = asked;
  const filters = toFilters(asked);
  const after = given(asked.after);
  const isAscending = order === "asc";
  if (sort === "time")
    return inTurn(() => reports.receipts({ ...filters, oldestFirst: isAscending, after, limit }));
  const query = {
    ...filters,
    by: sort === "cost" ? ("charged" as const) : sort,
    isAscending,
    after: after === undefined ? undefined : fromRankCursor(after),
    limit,
  };
  const page = await inTurn(() => reports.ranked(query));
  return { receipts: page.receipts, after: page.after && toRankCursor(page.after) };
}

async function readOne(context: Context, id: string, account: string | undefined) {
  const { dependencies, inTurn, isOperator } = context;
  const receipt = await inTurn(() => dependencies.reports.receipt(id));
  // Does not reveal whether the request exists in another account.
  if (receipt === undefined || (account !== undefined && receipt.accountId !== account))
    throw new Problem({ code: "not_found", message: `Unknown request "${id}".` });
  const { models } = await dependencies.catalog.load();
  const price = priceOfReceipt(models, receipt);
  return toReceiptView({ receipt, price, forOperator: isOperator });
}

async function toCsv(context: Context, asked: Asked): Promise<Response> {
  const { dependencies, inTurn, isOperator } = context;
  const query = { ...toFilters(asked), oldestFirst: true, limit: csvPage };
  const columns = isOperator ? operatorColumns : memberColumns;
  const names = await namesFor(context, asked.account);
  return csvReply(context, {
    file: "requests.csv",
    header: columns.names,
    async read(after) {
      const page = await inTurn(() => dependencies.reports.receipts({ ...query, after }));
      const lines = page.receipts.map((receipt) => csvLine(columns.cells(receipt, names)));
      return { lines, after: page.after };
    },
  });
}

/** Of the accounts and of the keys in an export; members get those of their own account alone. */
async function namesFor(
  { dependencies, operations }: Context,
  account = "",
): Promise<ReceiptNames> {
  const [accounts, keys] = await Promise.all([
    accountNames(dependencies.accounts),
    operations.keys.list(account === "" ? {} : { account }),
  ]);
  return { accounts, keys: new Map(keys.map(({ id, name, hint }) => [id, name || hint])) };
}

function toFilters(asked: Asked): ReceiptFilters {
  return {
    ...toCallFilters(asked),
    provider: given(asked.provider),
    outcome: given(asked.outcome),
  };
}
