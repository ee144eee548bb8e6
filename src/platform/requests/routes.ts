import { Type } from "typebox";
import { Problem } from "../../base/problem.ts";
import { csvLine } from "../../base/text/csv.ts";
import { endpoints } from "../../call/endpoint.ts";
import type { ReceiptQuery } from "../../ledger/reports.ts";
import { type Context, route } from "../context.ts";
import { apiHeaders } from "../http/refusal.ts";
import { fields, type Input, nullable, oneOf, text } from "../http/schemas.ts";
import { accountNames, toMoment } from "../input/values.ts";
import { memberColumns, operatorColumns } from "./columns.ts";
import { receiptReply, receiptRowReply } from "./schemas.ts";
import { priceOfReceipt, toReceiptRow, toReceiptView } from "./views.ts";

const filters = {
  key: Type.Optional(text({ most: 60, about: "Key id." })),
  model: Type.Optional(text({ most: 200 })),
  endpoint: Type.Optional(oneOf(endpoints)),
  outcome: Type.Optional(
    text({ most: 60, about: "ok, left, an error code, or failed for all errors." }),
  ),
  id: Type.Optional(text({ most: 60, about: "Request id or its beginning." })),
  from: Type.Optional(text({ most: 40, about: "Day or time in UTC." })),
  to: Type.Optional(text({ most: 40, about: "Day or time in UTC; exclusive." })),
};
const paging = {
  after: Type.Optional(text({ most: 60, about: "Cursor from the previous page." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
};
const forOperator = {
  account: Type.Optional(text({ most: 60, about: "Account id." })),
  provider: Type.Optional(text({ most: 100 })),
};
const pageReply = Type.Object({
  requests: Type.Array(receiptRowReply),
  after: nullable(Type.String({ description: "Cursor for the next page; null on the last page." })),
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

const usualLimit = 50;
const csvPage = 1_000;

async function readPage({ dependencies, inTurn, isOperator }: Context, asked: Asked) {
  const query = { ...toQuery(asked), after: given(asked.after), limit: asked.limit ?? usualLimit };
  const { receipts, after } = await inTurn(() => dependencies.reports.receipts(query));
  return {
    requests: receipts.map((receipt) => toReceiptRow({ receipt, forOperator: isOperator })),
    after: after ?? null,
  };
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
  const { dependencies, inTurn, isOperator, signal } = context;
  const query = { ...toQuery(asked), oldestFirst: true, limit: csvPage };
  const read = (after?: string) => inTurn(() => dependencies.reports.receipts({ ...query, after }));
  const columns = isOperator ? operatorColumns : memberColumns;
  const names = await accountNames(dependencies.accounts);
  const encoder = new TextEncoder();
  // Before the reply begins: only then can a refusal still be told in words.
  let page = await read();
  let isFirst = true;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (signal.aborted) return controller.close();
      if (!isFirst) {
        const now = await context.permission();
        // Cut, not ended: half a file must not look whole.
        if (!now.isAllowed || now.isOperator !== isOperator)
          return controller.error(new Error("no longer allowed"));
        page = await read(page.after);
      }
      const lines = page.receipts.map((receipt) => csvLine(columns.cells(receipt, names)));
      if (isFirst) lines.unshift(csvLine(columns.names));
      isFirst = false;
      // Never empty: what gives nothing is not asked again.
      controller.enqueue(encoder.encode(lines.join("")));
      if (page.after === undefined) controller.close();
    },
  });
  return new Response(body, {
    headers: {
      ...apiHeaders,
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="requests.csv"',
    },
  });
}

function toQuery(asked: Asked): Omit<ReceiptQuery, "limit"> {
  return {
    accountId: given(asked.account),
    keyId: given(asked.key),
    model: given(asked.model),
    endpoint: asked.endpoint,
    provider: given(asked.provider),
    outcome: given(asked.outcome),
    idPrefix: given(asked.id),
    fromMs: readDate("from", asked.from),
    toMs: readDate("to", asked.to),
  };
}

/** A form sends what was not filled in as empty: it filters nothing. */
function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function readDate(field: string, asked: string | undefined): number | undefined {
  const text = given(asked);
  if (text === undefined) return undefined;
  return toMoment(text, field);
}
