import type { Input } from "../../api.ts";
import type { RequestRow } from "../../live/news.ts";

export const filterNames = [
  "model",
  "key",
  "endpoint",
  "outcome",
  "id",
  "from",
  "to",
  "account",
  "provider",
] as const;
type FilterName = (typeof filterNames)[number];
/** As they are in the address; "" where nothing is asked for. Days are whole ones, in UTC. */
export type Filters = Readonly<Record<FilterName, string>>;
export type Query = NonNullable<Input<"GET /api/requests.csv">["query"]>;

const ofOperator: readonly FilterName[] = ["account", "provider"];
const dayMs = 86_400_000;
const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text);

export function toFilters(
  search: Readonly<Record<string, string | undefined>>,
  isForAll: boolean,
): Filters {
  return Object.fromEntries(
    filterNames.map((name) => [
      name,
      isForAll || !ofOperator.includes(name) ? (search[name] ?? "").trim() : "",
    ]),
  ) as Filters;
}

/** As the platform is asked: it takes the end as the first moment that does not count. */
export function toQuery(filters: Filters): Query {
  const given = Object.entries({ ...filters, to: endOf(filters.to) }).filter(
    ([, value]) => value !== "",
  );
  // The platform says no to what is none of its words.
  return Object.fromEntries(given) as Query;
}

/** Whether a request that has just ended belongs into the list. */
export function matches(row: RequestRow, filters: Filters): boolean {
  const { model, key, endpoint, account, provider, id, outcome, from, to } = filters;
  const same = (wanted: string, value: string | null | undefined) =>
    wanted === "" || wanted === value;
  const end = endOf(to);
  return (
    same(model, row.model) &&
    same(key, row.key) &&
    same(endpoint, row.endpoint) &&
    same(account, row.account) &&
    same(provider, row.provider) &&
    row.id.startsWith(id) &&
    isOutcome(outcome, row.outcome) &&
    (from === "" || row.started_at >= from) &&
    (end === "" || row.started_at < end)
  );
}

function isOutcome(wanted: string, outcome: string): boolean {
  if (wanted === "failed") return outcome !== "ok" && outcome !== "left";
  return wanted === "" || wanted === outcome;
}

/** The day after the last one. */
function endOf(day: string): string {
  if (!isDay(day)) return day;
  const ms = Date.parse(day);
  return Number.isNaN(ms) ? day : new Date(ms + dayMs).toISOString().slice(0, 10);
}
