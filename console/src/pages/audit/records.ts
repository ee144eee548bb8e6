import { type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { type ApiProblem, type Reply, request } from "../../api.ts";
import { useApi } from "../../queries.ts";
import { useAccounts } from "../../session.tsx";

type Page = Reply<"GET /api/audit">;
export type AuditRecord = Page["records"][number];

interface Asked {
  /** Undefined: of the whole platform. */
  readonly account: string | undefined;
  readonly action: string;
  readonly enabled: boolean;
}

/** Page by page, newest first. */
export function useRecords(
  asked: Asked,
): UseInfiniteQueryResult<readonly AuditRecord[], ApiProblem> {
  const { account, action, enabled } = asked;
  const name = account === undefined ? "GET /api/audit" : "GET /api/accounts/:account/audit";
  return useInfiniteQuery<Page, ApiProblem, readonly AuditRecord[], readonly string[], string>({
    queryKey: [name, account ?? "", action],
    queryFn: async ({ pageParam, signal }) =>
      (await request(
        name,
        { params: { account: account ?? "" }, query: { action, after: pageParam } },
        signal,
      )) as Page,
    initialPageParam: "",
    getNextPageParam: ({ after }) => after ?? undefined,
    select: ({ pages }) => pages.flatMap(({ records }) => records),
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
