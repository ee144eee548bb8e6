import type { ProviderDraft } from "../draft.ts";
import { toName } from "./address.ts";
import type { Target } from "./target.ts";

/** By the fields of a provider: what it is called. */
export type ProviderNames = (target: Target) => string;

/**
 * Entries with the same key and address are one provider. One alone of its vendor has the vendor's
 * name; of several each has what tells it from the others. A name that stands for something else
 * is not taken again.
 */
export function nameProviders(options: {
  readonly targets: readonly Target[];
  readonly existing: Readonly<Record<string, ProviderDraft>>;
  /** A draft without its literals. */
  readonly shown: (fields: ProviderDraft) => ProviderDraft;
  /** Whether two are one provider, however each of them says it. */
  readonly isSame: (one: ProviderDraft, other: ProviderDraft) => boolean;
}): {
  readonly nameOf: ProviderNames;
  readonly providers: Readonly<Record<string, ProviderDraft>>;
} {
  const { targets, existing, shown, isSame } = options;
  const groups = new Map(targets.map((target) => [identity(target.fields), target]));
  const names = new Map<string, string>();
  const providers: Record<string, ProviderDraft> = {};
  for (const [key, target] of groups) {
    const rivals = [...groups.values()].filter((one) => one !== target && one.name === target.name);
    const isFree = (name: string) =>
      providers[name] === undefined &&
      (existing[name] === undefined || isSame(existing[name], shown(target.fields)));
    const name = freeName(candidates(target, rivals), isFree);
    names.set(key, name);
    providers[name] = target.fields;
  }
  return { nameOf: ({ fields }) => names.get(identity(fields)) ?? "", providers };
}

function candidates({ name, hints }: Target, rivals: readonly Target[]): readonly string[] {
  const base = toName(name) || "provider";
  const own = hints.filter((hint) => !rivals.some((rival) => rival.hints.includes(hint)));
  const told = own.map((hint) => (hint === base ? base : `${base}-${hint}`));
  return rivals.length === 0 ? [base, ...told] : [...told, base];
}

function freeName(names: readonly string[], isFree: (name: string) => boolean): string {
  // The embedded models' own name is nobody else's.
  const usable = (name: string) => name !== "engine" && isFree(name);
  const found = names.find(usable);
  if (found !== undefined) return found;
  const last = names.at(-1) ?? "provider";
  let count = 2;
  while (!usable(`${last}-${count}`)) count++;
  return `${last}-${count}`;
}

/** Values as the texts that a file has. */
function identity(fields: ProviderDraft): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)] as const);
  return JSON.stringify(pairs.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
