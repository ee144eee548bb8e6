import type { ManifestDraft, ProviderDraft } from "./draft.ts";

/** Stands in an export for a literal that is kept encrypted; an apply leaves that as it is. */
export const storedMark = "<stored>";

/** Keys that stand as `<stored>` in a draft, by provider and field: they are never shown. */
export type Literals = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Puts them in, for the store. */
export function withLiterals(draft: ManifestDraft, literals: Literals): ManifestDraft {
  const providers = Object.entries(draft.providers).map(
    ([name, fields]) => [name, fill(fields, literals[name] ?? {})] as const,
  );
  return { ...draft, providers: Object.fromEntries(providers) };
}

function fill(fields: ProviderDraft, literals: Readonly<Record<string, string>>): ProviderDraft {
  const filled = Object.entries(fields).map(
    ([name, value]) => [name, value === storedMark ? (literals[name] ?? value) : value] as const,
  );
  return Object.fromEntries(filled);
}
