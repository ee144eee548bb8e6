import type { Input } from "../../api.ts";
import { dayEndText, dayStartText, timeZone } from "../../format/moments.ts";
import type { RequestRow } from "../../live/news.ts";

export const filterNames = [
  "model",
  "key",
  "endpoint",
  "dialect",
  "outcome",
  "status",
  "id",
  "from",
  "to",
  "account",
  "provider",
] as const;
type FilterName = (typeof filterNames)[number];
/** As they are in the address; "" where nothing is asked for. Days are whole ones, in the reader's zone. */
export type Filters = Readonly<Record<FilterName, string>>;
export type Query = NonNullable<Input<"GET /api/requests.csv">["query"]>;

const ofOperator: readonly FilterName[] = ["account", "provider"];

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
export function toQuery(filters: Filters, zone = timeZone()): Query {
  const from = dayStartText(filters.from, zone);
  const to = dayEndText(filters.to, zone);
  const given = Object.entries({ ...filters, from, to }).filter(([, value]) => value !== "");
  // The platform says no to what is none of its words.
  return Object.fromEntries(given) as Query;
}

/** Refused before admission: these have no receipts and are a list of their own. */
export const rejected = "rejected";

/** Without what only receipts have, where the list becomes that of rejected calls. */
export function forOutcome(outcome: string, { status }: Filters): Partial<Filters> {
  if (outcome !== rejected) return { outcome };
  const isRefusal = /^4\d\d$/.test(status);
  return { outcome, provider: "", ...(isRefusal ? {} : { status: "" }) };
}

export interface Sorting {
  readonly sort: "time" | "cost" | "duration";
  readonly order: "desc" | "asc";
}

export function toSorting(search: Readonly<Record<string, string | undefined>>): Sorting {
  const { sort } = search;
  if (sort !== "cost" && sort !== "duration") return { sort: "time", order: "desc" };
  return { sort, order: search["order"] === "asc" ? "asc" : "desc" };
}

/** What a click on a header makes of it: the largest first, then the smallest, then by time again. */
export function nextSorting(now: Sorting, by: "cost" | "duration"): Sorting {
  if (now.sort !== by) return { sort: by, order: "desc" };
  return now.order === "desc" ? { sort: by, order: "asc" } : { sort: "time", order: "desc" };
}

/** Whether a request that has just ended belongs into the list. */
export function matches(row: RequestRow, filters: Filters, zone = timeZone()): boolean {
  const { model, key, endpoint, dialect, account, provider, id, outcome, status, from, to } =
    filters;
  const same = (wanted: string, value: string | null | undefined) =>
    wanted === "" || wanted === value;
  const startedMs = Date.parse(row.started_at);
  return (
    same(model, row.model) &&
    same(key, row.key) &&
    same(endpoint, row.endpoint) &&
    same(dialect, row.dialect) &&
    same(account, row.account) &&
    same(provider, row.provider) &&
    row.id.startsWith(id) &&
    isOutcome(outcome, row.outcome) &&
    same(status, row.status === null ? null : String(row.status)) &&
    (from === "" || startedMs >= Date.parse(dayStartText(from, zone))) &&
    (to === "" || startedMs < Date.parse(dayEndText(to, zone)))
  );
}

function isOutcome(wanted: string, outcome: string): boolean {
  if (wanted === "failed") return outcome !== "ok" && outcome !== "left";
  return wanted === "" || wanted === outcome;
}
