import { toDateText } from "../../base/dates.ts";
import { Type } from "../../base/json/type.ts";
import { invalid } from "../../base/problem.ts";
import { othersName, type UsageGroup, type UsageQuery } from "../../ledger/reports.ts";
import { type Context, route } from "../context.ts";
import { fields, type Input, moment, nullable, oneOf, text, usd } from "../http/schemas.ts";
import { timeZoneField, toTimeZone } from "../input/days.ts";
import { accountNames } from "../input/values.ts";
import { freshnessFields, toFreshness } from "../reports/freshness.ts";
import { customSpan, ranges, type Span, spanBefore, spanOf } from "./span.ts";
import { type Counts, toListView, totalsOf, toUsageView } from "./usage-view.ts";

const ms = (description: string) => nullable(Type.Integer({ description }));
const sums = {
  requests: Type.Integer({ description: "Admitted calls, whether served or not." }),
  failures: Type.Integer({ description: "Admitted calls that failed." }),
  rejected: Type.Integer({
    description: "Calls rejected before admission. They are not part of `requests`.",
  }),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  charged_usd: usd("Amount charged."),
  latency_p50_ms: ms("Median latency, approximate: interpolated from histogram buckets."),
  latency_p95_ms: ms("95th percentile of latency, approximate."),
  first_byte_p50_ms: ms("Median time to first byte of streamed replies, approximate."),
  first_byte_p95_ms: ms("95th percentile of time to first byte of streamed replies, approximate."),
};

const usageReply = Type.Object({
  range: oneOf([...ranges, "custom"]),
  grain: oneOf(["minute", "hour", "day"]),
  from: moment(),
  to: moment(),
  time_zone: Type.String({ description: "Time zone in which days begin." }),
  ...freshnessFields,
  totals: Type.Object(sums),
  before: nullable(
    Type.Object(
      { from: moment(), to: moment(), ...sums },
      { description: "The preceding period of the same length." },
    ),
  ),
  points: Type.Array(Type.Object({ start: moment(), ...sums })),
  series: Type.Array(
    Type.Object({
      name: Type.String({
        description:
          "Id of a model, key or account; `temporary` for all keys of the playground and the command line; `unknown` for rejected calls without a model of the catalog; or `others`.",
      }),
      label: Type.String(),
      totals: Type.Object(sums),
      points: Type.Array(Type.Object(sums), { description: "One per entry of `points`." }),
    }),
    { description: "The seven with the highest spend, and `others`." },
  ),
  all: Type.Array(
    Type.Object({ name: Type.String(), label: Type.String(), totals: Type.Object(sums) }),
    {
      description:
        "Totals of every model, key or account, highest spend first; beyond 1,000, the rest is `others`.",
    },
  ),
});

const filters = {
  range: Type.Optional(oneOf(ranges)),
  from: Type.Optional(text({ most: 10, about: "First day, in place of a range." })),
  to: Type.Optional(text({ most: 10, about: "Last day, inclusive. Default: today." })),
  time_zone: Type.Optional(timeZoneField),
  compare: Type.Optional(
    oneOf(["previous", "none"], { description: "Whether `before` is filled. Default: previous." }),
  ),
  model: Type.Optional(text({ most: 200 })),
  key: Type.Optional(text({ most: 60 })),
};

const operatorQuery = fields({
  ...filters,
  by: Type.Optional(oneOf(["model", "account", "key"])),
});
type Asked = Input<typeof operatorQuery> & { readonly accountId?: string };

/** What was used over time, from sums that are kept up beside the calls. */
export const usageRoutes = [
  route("GET /api/accounts/:account/usage", {
    about: "Shows spend, requests, tokens, failures and latency of an account over time.",
    access: "viewer",
    area: "usage",
    query: fields({ ...filters, by: Type.Optional(oneOf(["model", "key"])) }),
    reply: usageReply,
    handle: (context, { query }) => readUsage(context, { ...query, accountId: context.account.id }),
  }),
  route("GET /api/usage", {
    about: "Shows spend, requests, tokens, failures and latency of all accounts over time.",
    access: "operator",
    area: "usage",
    query: operatorQuery,
    reply: usageReply,
    handle: (context, { query }) => readUsage(context, query),
  }),
] as const;

async function readUsage({ dependencies, inTurn }: Context, asked: Asked) {
  const { reports, clock } = dependencies;
  const { by = "model", model, key: keyId, accountId, compare = "previous" } = asked;
  const span = toSpan(asked, clock.nowMs());
  const of = { accountId, model, keyId };
  const { grain, fromMs, toMs, dayOffsets } = span;
  const earlier = compare === "none" ? undefined : spanBefore(span);
  const freshness = toFreshness(await reports.catchUp(accountId), clock);
  const [used, before, labels] = await Promise.all([
    inTurn(() => readCounts(reports, { ...of, grain, fromMs, toMs, by, dayOffsets })),
    earlier && inTurn(() => readCounts(reports, { ...of, ...earlier, by: "none", isWhole: true })),
    labelsOf(dependencies, by, accountId),
  ]);
  // A chart's sums tell few names apart: where there are more, they are asked for once more.
  const all = used.points.some(({ name }) => name === othersName)
    ? await inTurn(() => readCounts(reports, { ...of, ...wholeOf(span), by }))
    : used;
  const listed = (counts: Counts) => (by === "key" ? ofListedKeys(counts, labels) : counts);
  return {
    range: asked.from === undefined ? (asked.range ?? "24h") : ("custom" as const),
    grain,
    from: toDateText(fromMs),
    to: toDateText(toMs),
    time_zone: span.timeZone,
    ...freshness,
    before:
      before === undefined || earlier === undefined
        ? null
        : {
            from: toDateText(earlier.fromMs),
            to: toDateText(earlier.toMs),
            ...totalsOf(before),
          },
    ...toUsageView({ span, ...listed(used), labels }),
    all: toListView({ ...listed(all), labels }),
  };
}

/** What was admitted and what was not, by the same names. */
async function readCounts(
  reports: Context["dependencies"]["reports"],
  query: UsageQuery,
): Promise<Counts> {
  const points = await reports.usage(query);
  const names = new Set(points.map(({ name }) => name));
  names.delete(othersName);
  const rejected = await reports.rejected({
    ...query,
    // Days are made of hours, wherever they begin.
    grain: query.grain === "minute" ? "minute" : "hour",
    names: [...names],
  });
  const isUnknown = query.by === "model";
  return {
    points,
    rejected: rejected.map((point) =>
      isUnknown && point.name === "" ? { ...point, name: unknownModel } : point,
    ),
  };
}

/** Refused before the model was known, or because it is not in the catalog. */
const unknownModel = "unknown";

function toSpan({ range, from, to, time_zone }: Asked, nowMs: number): Span {
  const timeZone = toTimeZone(time_zone);
  if (from === undefined && to === undefined) return spanOf(range ?? "24h", nowMs, timeZone);
  if (range !== undefined)
    throw invalid({ range: "range cannot be combined with from and to. Send one or the other." });
  return customSpan({ from, to, timeZone, nowMs });
}

/** In one step; days of a time zone from their hours. */
function wholeOf({ grain, fromMs, toMs, dayOffsets }: Span) {
  const read = dayOffsets === undefined ? grain : ("hour" as const);
  return { grain: read, fromMs, toMs, isWhole: true };
}

const temporary = "temporary";

/** Keys of the playground and of `svc chat` last minutes and are in no list: they are one. */
function ofListedKeys({ points, rejected }: Counts, labels: ReadonlyMap<string, string>): Counts {
  const listed = <T extends { readonly name: string }>(point: T): T =>
    labels.has(point.name) || point.name === othersName ? point : { ...point, name: temporary };
  return { points: points.map(listed), rejected: rejected.map(listed) };
}

/** Keys and accounts have names that people gave them. */
async function labelsOf(
  { operations, accounts }: Pick<Context["dependencies"], "operations" | "accounts">,
  by: UsageGroup,
  accountId: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (by === "account") return accountNames(accounts);
  if (by !== "key") return new Map([[unknownModel, "Unknown model"]]);
  const keys = await operations.keys.list(accountId === undefined ? {} : { account: accountId });
  return new Map([
    [temporary, "temporary keys"],
    ...keys.map(({ id, name, hint }) => [id, name === "" ? hint : name] as const),
  ]);
}
