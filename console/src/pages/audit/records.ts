import { type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { type ApiProblem, type Reply, request } from "../../api.ts";
import { dayEndText, dayStartText, timeZone } from "../../format/moments.ts";
import { useApi } from "../../queries.ts";
import { useAccounts } from "../../session.tsx";

type Page = Reply<"GET /api/audit">;
export type AuditRecord = Page["records"][number];

export const auditFilterNames = ["search", "actor", "action", "subject", "from", "to"] as const;
/** As they are in the address; "" where nothing is asked for. Days are whole ones, in the reader's zone. */
export type AuditFilters = Readonly<Record<(typeof auditFilterNames)[number], string>>;

export const toAuditFilters = (search: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(auditFilterNames.map((name) => [name, search[name] ?? ""])) as AuditFilters;

/** As the platform is asked: it takes the end as the first moment that does not count. */
export function toAuditQuery(filters: AuditFilters, zone = timeZone()): Partial<AuditFilters> {
  const from = dayStartText(filters.from, zone);
  const to = dayEndText(filters.to, zone);
  return Object.fromEntries(
    Object.entries({ ...filters, from, to }).filter(([, text]) => text.trim() !== ""),
  );
}

interface Asked {
  /** Undefined: of the whole platform. */
  readonly account: string | undefined;
  readonly filters: AuditFilters;
  readonly enabled: boolean;
}

/** Page by page, newest first. A page may be empty and not the last one. */
export function useRecords(
  asked: Asked,
): UseInfiniteQueryResult<readonly AuditRecord[], ApiProblem> {
  const { account, filters, enabled } = asked;
  const name = account === undefined ? "GET /api/audit" : "GET /api/accounts/:account/audit";
  const query = toAuditQuery(filters);
  return useInfiniteQuery<Page, ApiProblem, readonly AuditRecord[], readonly unknown[], string>({
    queryKey: [name, account ?? "", query],
    queryFn: async ({ pageParam, signal }) =>
      await request(
        name,
        { params: { account: account ?? "" }, query: { ...query, after: pageParam } },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: ({ after }) => after ?? undefined,
    select: ({ pages }) => pages.flatMap(({ records }) => records),
    placeholderData: (old) => old,
    enabled,
  });
}

/** The log may have IDs of people and accounts; these are the names to show instead. */
export function useNames(account: string | undefined): ReadonlyMap<string, string> {
  const list = useApi(
    "GET /api/accounts/:account/members",
    { params: { account: account ?? "" } },
    { enabled: account !== undefined },
  );
  return new Map([
    ...(list.data?.members ?? []).map(({ id, email }) => [id, email] as const),
    ...useAccounts().map(({ id, name }) => [id, name] as const),
  ]);
}

/** The records of one day after the other. */
export function byDay(records: readonly AuditRecord[], toDay: (atMs: number) => string) {
  const days: { readonly day: string; readonly records: AuditRecord[] }[] = [];
  for (const record of records) {
    const day = toDay(Date.parse(record.at));
    const last = days.at(-1);
    if (last?.day === day) last.records.push(record);
    else days.push({ day, records: [record] });
  }
  return days;
}
