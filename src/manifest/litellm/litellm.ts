import type { ManifestDraft, ProviderDraft } from "../draft.ts";
import { type Literals, storedMark } from "../literals.ts";
import { type Entry, noteUnused, readEntry } from "./entry.ts";
import { addAliases, addFallbacks, priceOwnServers, toModelDraft, toModels } from "./models.ts";
import { type Note, openSource, Remarks, type Source } from "./source.ts";
import { KeyReader, type Target, toName } from "./target.ts";

export interface LitellmOptions {
  /** Takes keys over that are written out; without it they are refused. */
  readonly keepKeys: boolean;
  /** A variable of the environment: addresses may be kept in one. */
  readonly variable: (name: string) => string | undefined;
  /** The providers that are there already. */
  readonly existing: Readonly<Record<string, ProviderDraft>>;
  /** Whether two are one provider, however each of them says it. */
  readonly isSame: (one: ProviderDraft, other: ProviderDraft) => boolean;
}

export interface LitellmImport {
  /** Keys that were written out have a mark in their place: it may be written and shown. */
  readonly draft: ManifestDraft;
  /** Those keys, if they are kept. */
  readonly literals: Literals;
  /** What was not taken over, or not as it was. */
  readonly notes: readonly Note[];
}

/** Reads the config of a LiteLLM proxy. Throws a Problem with every line that cannot be read. */
export function fromLitellm(text: string, options: LitellmOptions): LitellmImport {
  const { keepKeys, existing, isSame } = options;
  const root = openSource(text);
  const remarks = new Remarks();
  const keys = new KeyReader({ remarks, keepKeys });
  const entries = readEntries({ root, remarks, keys, variable: options.variable });
  const isLiteral = (value: unknown) => typeof value === "string" && keys.literals.has(value);
  const mark = (fields: ProviderDraft) =>
    mapValues(fields, (value) => (isLiteral(value) ? storedMark : value));
  const { nameOf, providers } = nameProviders({
    targets: entries.map(({ target }) => target),
    isTaken: (name, fields) =>
      existing[name] !== undefined && !isSame(existing[name], mark(fields)),
  });
  const router = root.inner("router_settings");
  const library = root.inner("litellm_settings");
  const models = toModels({ entries, nameOf, remarks });
  addFallbacks(models, [library, router], remarks);
  priceOwnServers({ models, providers: { ...existing, ...providers }, remarks });
  addAliases(models, router.inner("model_group_alias"), remarks);
  for (const entry of entries) noteUnused(entry, remarks);
  noteSettings({ root, sections: { litellm_settings: library, router_settings: router }, remarks });
  const unpriced = [...models].filter(([, { price }]) => price === undefined);
  if (unpriced.length > 0)
    remarks.note(
      root.line("model_list"),
      `without a price, so not served yet: ${unpriced.map(([name]) => name).join(", ")}. svc price import sets public list prices`,
    );
  remarks.throwProblems();
  const literals = Object.entries(providers).flatMap(([name, fields]) => {
    const own = Object.entries(fields).filter(([, value]) => isLiteral(value));
    return own.length === 0 ? [] : [[name, mapValues(Object.fromEntries(own), String)] as const];
  });
  return {
    draft: {
      providers: mapValues(providers, mark),
      models: Object.fromEntries([...models].map(([name, one]) => [name, toModelDraft(one)])),
    },
    literals: Object.fromEntries(literals),
    notes: remarks.notes(),
  };
}

const mapValues = <T, U>(map: Readonly<Record<string, T>>, change: (value: T) => U) =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)] as const));

function readEntries(options: {
  readonly root: Source;
  readonly remarks: Remarks;
  readonly keys: KeyReader;
  readonly variable: (name: string) => string | undefined;
}): readonly Entry[] {
  const { root, remarks, keys } = options;
  const items = root.items("model_list");
  if (items.length === 0)
    remarks.problem(
      root.line("model_list"),
      "model_list is missing or empty; is this a LiteLLM config?",
    );
  const credentials = new Map(
    root
      .items("credential_list")
      .map((one) => [one.text("credential_name") ?? "", one.inner("credential_values")]),
  );
  const own = root.inner("environment_variables");
  const variable = (name: string) => own.text(name) ?? options.variable(name);
  return items.flatMap((item) => readEntry(item, { remarks, keys, variable, credentials }) ?? []);
}

/** The proxy's own settings are not taken over: their names, and no value, which may be secret. */
function noteSettings(options: {
  readonly root: Source;
  readonly sections: Readonly<Record<string, Source>>;
  readonly remarks: Remarks;
}): void {
  const { root, sections, remarks } = options;
  const ignored = [
    ...Object.entries(sections).flatMap(([name, section]) =>
      section.unused().map((field) => `${name}.${field}`),
    ),
    ...root
      .inner("general_settings")
      .names()
      .map((field) => `general_settings.${field}`),
    ...(root.has("environment_variables") ? ["environment_variables"] : []),
    ...root.unused(),
  ];
  if (ignored.length > 0) remarks.note(1, `proxy settings are not imported: ${ignored.join(", ")}`);
}

/**
 * Entries with the same key and address are one provider. One alone of its vendor has the vendor's
 * name; of several each has what tells it from the others. A name that stands for something else
 * is not taken again.
 */
function nameProviders(options: {
  readonly targets: readonly Target[];
  readonly isTaken: (name: string, fields: ProviderDraft) => boolean;
}): {
  readonly nameOf: (target: Target) => string;
  readonly providers: Readonly<Record<string, ProviderDraft>>;
} {
  const identity = ({ fields }: Target) => JSON.stringify(Object.entries(fields).toSorted());
  const groups = new Map(options.targets.map((target) => [identity(target), target]));
  const names = new Map<string, string>();
  const providers: Record<string, ProviderDraft> = {};
  for (const [key, target] of groups) {
    const { fields, hints } = target;
    const rivals = [...groups.values()].filter((one) => one !== target && one.name === target.name);
    const base = toName(target.name) || "provider";
    const own = hints
      .filter((hint) => !rivals.some((rival) => rival.hints.includes(hint)))
      .map((hint) => (hint === base ? base : `${base}-${hint}`));
    const wanted = rivals.length === 0 ? [base, ...own] : [...own, base];
    // The embedded models' own name is nobody else's.
    const isFree = (name: string) =>
      name !== "engine" && providers[name] === undefined && !options.isTaken(name, fields);
    let name = wanted.find(isFree);
    for (let count = 2; name === undefined; count++) {
      const next = `${wanted.at(-1)}-${count}`;
      if (isFree(next)) name = next;
    }
    names.set(key, name);
    providers[name] = fields;
  }
  return { nameOf: (target) => names.get(identity(target)) ?? "", providers };
}
