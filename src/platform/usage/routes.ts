import { Type } from "typebox";
import { toDateText } from "../../base/dates.ts";
import { othersName, type UsageGroup, type UsagePoint } from "../../ledger/reports.ts";
import { type Context, route } from "../context.ts";
import { fields, type Input, moment, nullable, oneOf, text, usd } from "../http/schemas.ts";
import { accountNames } from "../input/values.ts";
import { ranges, spanBefore, spanOf, totalsOf, toUsageView } from "./usage-view.ts";

const ms = (description: string) => nullable(Type.Integer({ description }));
const sums = {
  requests: Type.Integer({ description: "Admitted calls, whether served or not." }),
  failures: Type.Integer(),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  charged_usd: usd("Amount charged."),
  latency_p50_ms: ms("Median latency, approximate: interpolated from histogram buckets."),
  latency_p95_ms: ms("95th percentile of latency, approximate."),
  first_byte_p50_ms: ms("Median time to first byte of streamed replies, approximate."),
  first_byte_p95_ms: ms("95th percentile of time to first byte of streamed replies, approximate."),
};

const usageReply = Type.Object({
  range: oneOf(ranges),
  grain: oneOf(["minute", "hour", "day"]),
  from: moment(),
  to: moment(),
  totals: Type.Object(sums),
  before: nullable(Type.Object(sums, { description: "The preceding period of the same length." })),
  points: Type.Array(Type.Object({ start: moment(), ...sums })),
  series: Type.Array(
    Type.Object({
      name: Type.String({
        description:
          "Id of a model, key or account; `temporary` for all keys of the playground and the command line; or `others`.",
      }),
      label: Type.String(),
      totals: Type.Object(sums),
      points: Type.Array(Type.Object(sums), { description: "One per entry of `points`." }),
    }),
  ),
});

const filters = {
  range: Type.Optional(oneOf(ranges)),
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
  const { range: wanted = "24h", by = "model", model, key: keyId, accountId } = asked;
  const span = spanOf(wanted, clock.nowMs());
  const of = { accountId, model, keyId };
  const { grain, fromMs, toMs } = span;
  const earlier = spanBefore(span);
  const [points, before, labels] = await Promise.all([
    inTurn(() => reports.usage({ ...of, grain, fromMs, toMs, by })),
    earlier && inTurn(() => reports.usage({ ...of, ...earlier, by: "none" })),
    labelsOf(dependencies, by, accountId),
  ]);
  return {
    range: wanted,
    grain,
    from: toDateText(fromMs),
    to: toDateText(toMs),
    before: before === undefined ? null : totalsOf(before),
    ...toUsageView({ span, points: by === "key" ? ofListedKeys(points, labels) : points, labels }),
  };
}

const temporary = "temporary";

/** Keys of the playground and of `svc chat` last minutes and are in no list: they are one. */
function ofListedKeys(
  points: readonly UsagePoint[],
  labels: ReadonlyMap<string, string>,
): readonly UsagePoint[] {
  return points.map((point) =>
    labels.has(point.name) || point.name === othersName ? point : { ...point, name: temporary },
  );
}

/** Keys and accounts have names that people gave them. */
async function labelsOf(
  { operations, accounts }: Pick<Context["dependencies"], "operations" | "accounts">,
  by: UsageGroup,
  accountId: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (by === "account") return accountNames(accounts);
  if (by !== "key") return new Map();
  const keys = await operations.keys.list(accountId === undefined ? {} : { account: accountId });
  return new Map([
    [temporary, "temporary keys"],
    ...keys.map(({ id, name, hint }) => [id, name === "" ? hint : name] as const),
  ]);
}
