import { useDebouncedValue } from "@mantine/hooks";
import {
  type Icon,
  IconBox,
  IconBuilding,
  IconKey,
  IconReceipt,
  IconReceiptOff,
  IconUser,
} from "@tabler/icons-react";
import type { Reply } from "../../api.ts";
import { useApi } from "../../queries.ts";
import { useChosenAccountId, useSession } from "../../session.tsx";

type Found = Reply<"GET /api/search">["results"][number];

export interface Result {
  readonly label: string;
  readonly about: string;
  readonly icon: Icon;
  readonly href: string;
}

/** One letter finds everything. */
const leastLetters = 2;
const mostLetters = 100;
const pauseMs = 150;

/** What the platform finds by names and ids, among what one may open. */
export function useResults(wanted: string): {
  readonly results: readonly Result[];
  readonly isSearching: boolean;
} {
  const { user } = useSession();
  const account = useChosenAccountId();
  const typed = wanted.trim().slice(0, mostLetters);
  const [q] = useDebouncedValue(typed, pauseMs);
  const isWanted = q.length >= leastLetters;
  const isOperator = user?.is_operator === true;
  const everywhere = useApi(
    "GET /api/search",
    { query: { q } },
    { enabled: isOperator && isWanted, keepsOld: true },
  );
  const inAccount = useApi(
    "GET /api/accounts/:account/search",
    { params: { account: account ?? "" }, query: { q } },
    { enabled: user !== null && !isOperator && account !== undefined && isWanted, keepsOld: true },
  );
  const found = isOperator ? everywhere : inAccount;
  const isSearching = typed.length >= leastLetters && (q !== typed || found.isFetching);
  if (typed.length < leastLetters) return { results: [], isSearching: false };
  const toResult = isOperator ? forOperator : (one: Found) => forMember(one, account ?? "");
  return { results: (found.data?.results ?? []).flatMap(toResult), isSearching };
}

const icons = {
  account: IconBuilding,
  model: IconBox,
  key: IconKey,
  person: IconUser,
  request: IconReceipt,
  rejection: IconReceiptOff,
} as const satisfies Readonly<Record<Found["kind"], Icon>>;

/** Where the list has it alone, and its details open. */
const rejectedSearch = (id: string) =>
  new URLSearchParams({ outcome: "rejected", id, call: id }).toString();

function forOperator(found: Found): readonly Result[] {
  const { kind, id, name, detail, account } = found;
  const shared = { label: name, icon: icons[kind] };
  switch (kind) {
    case "account":
      return [
        { ...shared, about: "Account", href: `/operator/accounts/${id}` },
        { ...shared, about: "Switch to this account", href: `/a/${id}/overview` },
      ];
    case "model":
      return [{ ...shared, about: "Model", href: `/operator/catalog/${encodeURIComponent(id)}` }];
    case "key":
      return [
        {
          ...shared,
          about: `Key of ${account?.name ?? "an account"}`,
          href: `/a/${account?.id ?? ""}/keys?${new URLSearchParams({ find: name })}`,
        },
      ];
    case "person":
      return [
        {
          ...shared,
          about: detail,
          href: `/operator/people?${new URLSearchParams({ find: detail })}`,
        },
      ];
    case "request":
      return [{ ...shared, about: `Request, ${detail}`, href: `/operator/requests/${id}` }];
    case "rejection":
      return [
        {
          ...shared,
          about: `Rejected, ${detail}`,
          href: `/operator/requests?${rejectedSearch(id)}`,
        },
      ];
  }
}

function forMember({ kind, id, name, detail }: Found, account: string): readonly Result[] {
  const shared = { label: name, icon: icons[kind] };
  const at = (page: string) => `/a/${account}/${page}`;
  const find = new URLSearchParams({ find: name });
  switch (kind) {
    case "account":
      return [];
    case "model":
      return [{ ...shared, about: "Model", href: `${at("models")}?${find}` }];
    case "key":
      return [{ ...shared, about: "Key", href: `${at("keys")}?${find}` }];
    case "person":
      return [{ ...shared, about: detail, href: at("members") }];
    case "request":
      return [{ ...shared, about: `Request, ${detail}`, href: at(`requests/${id}`) }];
    case "rejection":
      return [
        { ...shared, about: `Rejected, ${detail}`, href: at(`requests?${rejectedSearch(id)}`) },
      ];
  }
}
