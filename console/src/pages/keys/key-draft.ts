import type { Input, Reply } from "../../api.ts";
import { dayStartText, timeZone } from "../../format/moments.ts";
import {
  fromLimits,
  type LimitTexts,
  noLimits,
  toLimitFields,
} from "../operator/account/limits.ts";

export type Key = Reply<"GET /api/accounts/:account/keys">[number];
export type NewKey = Reply<"POST /api/accounts/:account/keys">;
export type Model = Reply<"GET /api/accounts/:account/models">[number];

/** What a key is called where it is spoken of; without a name, by its hint. */
export const nameOf = ({ name, hint }: Pick<Key, "name" | "hint">) => (name === "" ? hint : name);

/** A key as the form has it. */
export interface KeyDraft {
  readonly name: string;
  readonly mayCallAll: boolean;
  /** Counts only where not all may be called; kept while one looks at the other choice. */
  readonly models: readonly string[];
  readonly limits: LimitTexts;
}

export const newDraft: KeyDraft = { name: "", mayCallAll: true, models: [], limits: noLimits };

export const draftOf = ({ name, models, limits }: Key): KeyDraft => ({
  name,
  mayCallAll: models === null,
  models: models ?? [],
  limits: fromLimits(limits),
});

/** Said before the platform is asked: what it would say of an empty list helps nobody. */
export const modelsProblem = ({ mayCallAll, models }: KeyDraft) =>
  !mayCallAll && models.length === 0 ? "Choose at least one model, or all models." : undefined;

export const lifetimes = [
  { value: "", label: "Never" },
  { value: "1", label: "In 1 day" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" },
  { value: "day", label: "Custom date" },
];

export interface Expiry {
  /** Days, empty for never, or `day` for the one that is chosen. */
  readonly after: string;
  readonly day: string;
}

const dayMs = 86_400_000;

/** A day begins at midnight in the reader's zone. */
export function toExpires(
  { after, day }: Expiry,
  nowMs: number,
  zone = timeZone(),
): string | undefined {
  if (after === "") return undefined;
  if (after === "day") return day === "" ? undefined : dayStartText(day, zone);
  return new Date(nowMs + Number(after) * dayMs).toISOString();
}

type CreateBody = Input<"POST /api/accounts/:account/keys">["body"];
type ChangeBody = NonNullable<Input<"PATCH /api/accounts/:account/keys/:id">["body"]>;

/** What limits nothing is not mentioned: the audit log keeps what was asked for. */
export function toCreateBody(draft: KeyDraft, expires: string | undefined): CreateBody {
  const limits = Object.entries(toLimitFields(draft.limits)).filter(([, text]) => text !== "none");
  return {
    name: draft.name.trim(),
    ...(draft.mayCallAll ? {} : { models: [...draft.models] }),
    ...(expires === undefined ? {} : { expires }),
    ...Object.fromEntries(limits),
  };
}

/** What the form of a key that there is says of its end: as it is, never, or another one. */
export const keptLifetime = { value: "keep", label: "Unchanged" };

/** Undefined where the end stays as it is. */
export function toNewExpires(key: Key, expiry: Expiry, nowMs: number): string | undefined {
  if (expiry.after === keptLifetime.value) return undefined;
  const expires = toExpires(expiry, nowMs);
  if (expires !== undefined) return expires;
  // A date that was not filled in is left for the platform to refuse.
  if (expiry.after === "day") return "";
  return key.expires_at === null ? undefined : "never";
}

/** Keys whose name, hint or creator has all of the words. */
export function findKeys(keys: readonly Key[], wanted: string): readonly Key[] {
  const words = wanted
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return keys.filter(({ id, name, hint, created_by: by, models }) => {
    const text = [id, name, hint, by ?? "", ...(models ?? [])].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Only what differs from what is in force; undefined where nothing does. */
export function toChangeBody(
  key: Key,
  draft: KeyDraft,
  expires: string | undefined,
): ChangeBody | undefined {
  const before = toLimitFields(fromLimits(key.limits));
  const limits = Object.entries(toLimitFields(draft.limits)).filter(
    ([name, text]) => text !== before[name as keyof typeof before],
  );
  const models = draft.mayCallAll ? null : [...draft.models];
  const body: ChangeBody = {
    ...(draft.name.trim() === key.name ? {} : { name: draft.name.trim() }),
    ...(isSame(models, key.models) ? {} : { models }),
    ...(expires === undefined ? {} : { expires }),
    ...Object.fromEntries(limits),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

function isSame(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return one === other;
  return one.length === other.length && one.every((id) => other.includes(id));
}
