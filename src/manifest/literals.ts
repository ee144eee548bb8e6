import { isRecord, type ManifestDraft, type ProviderDraft } from "./draft.ts";

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
  const { options: passed, ...own } = fields;
  const filled = Object.entries(own).map(
    ([name, value]) => [name, value === storedMark ? (literals[name] ?? value) : value] as const,
  );
  const options = Object.entries(isRecord(passed) ? passed : {}).map(
    ([name, value]) =>
      [name, value === storedMark ? (literals[`options.${name}`] ?? value) : value] as const,
  );
  return {
    ...Object.fromEntries(filled),
    ...(options.length === 0 ? {} : { options: Object.fromEntries(options) }),
  };
}
