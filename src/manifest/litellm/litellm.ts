import type { ManifestDraft, ProviderDraft } from "../draft.ts";
import type { Literals } from "../literals.ts";
import { storedMark } from "../literals.ts";
import { type Entry, noteUnused, readEntry } from "./entry.ts";
import { priceOwnServers, readTimeouts, toModelDraft, toModels } from "./models.ts";
import { nameProviders } from "./names.ts";
import { Secret } from "./secret.ts";
import { addAliases, addFallbacks, noteSettings } from "./settings.ts";
import { type Note, openSource, Remarks, type Source } from "./source.ts";

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
  const root = openSource(text);
  const remarks = new Remarks();
  const secret = new Secret({ remarks, keepKeys: options.keepKeys });
  const entries = readEntries({ root, remarks, secret, variable: options.variable });
  const mark = (fields: ProviderDraft) => withMarks(fields, secret.literals());
  const { nameOf, providers } = nameProviders({
    targets: entries.map(({ target }) => target),
    existing: options.existing,
    shown: mark,
    isSame: options.isSame,
  });
  const router = root.inner("router_settings");
  const library = root.inner("litellm_settings");
  const timeouts = {
    ...readTimeouts(library, remarks, { request_timeout: "total" }),
    ...readTimeouts(router, remarks),
  };
  const models = toModels({ entries, nameOf, timeouts, remarks });
  addFallbacks({ models, sections: [library, router], remarks });
  priceOwnServers({ models, providers: { ...options.existing, ...providers }, remarks });
  addAliases({ models, aliases: router.inner("model_group_alias"), remarks });
  for (const entry of entries) noteUnused(entry, remarks);
  noteSettings(root, remarks);
  const unpriced = [...models].filter(([, { price }]) => price === undefined);
  if (unpriced.length > 0)
    remarks.note(
      root.line("model_list"),
      `without a price, and not served until they have one: ${unpriced.map(([name]) => name).join(", ")}. svc price import takes vendors' list prices over`,
    );
  remarks.throwProblems();
  const drafts = Object.fromEntries([...models].map(([name, one]) => [name, toModelDraft(one)]));
  const marked = Object.entries(providers).map(([name, fields]) => [name, mark(fields)] as const);
  return {
    draft: { providers: Object.fromEntries(marked), models: drafts },
    literals: literalsOf(providers, secret.literals()),
    notes: remarks.notes(),
  };
}

function readEntries(options: {
  readonly root: Source;
  readonly remarks: Remarks;
  readonly secret: Secret;
  readonly variable: (name: string) => string | undefined;
}): readonly Entry[] {
  const { root, remarks, secret } = options;
  const items = root.items("model_list");
  if (items.length === 0)
    remarks.problem(
      root.line("model_list"),
      "model_list is missing or empty: is this a LiteLLM config?",
    );
  const credentials = new Map(
    root
      .items("credential_list")
      .map((one) => [one.text("credential_name") ?? "", one.inner("credential_values")]),
  );
  const own = root.inner("environment_variables");
  const variable = (name: string) => own.text(name) ?? options.variable(name);
  const parts = { remarks, secret, variable, credentials };
  return items.flatMap((item) => readEntry(item, parts) ?? []);
}

const secretFields = [
  "api_key",
  "credentials",
  "access_key_id",
  "secret_access_key",
  "session_token",
];

function withMarks(fields: ProviderDraft, literals: ReadonlySet<string>): ProviderDraft {
  const pairs = Object.entries(fields).map(([name, value]) => [
    name,
    secretFields.includes(name) && literals.has(String(value)) ? storedMark : value,
  ]);
  return Object.fromEntries(pairs);
}

function literalsOf(
  providers: Readonly<Record<string, ProviderDraft>>,
  literals: ReadonlySet<string>,
): Literals {
  const found: Record<string, Readonly<Record<string, string>>> = {};
  for (const [name, fields] of Object.entries(providers)) {
    const own = Object.entries(fields).flatMap(([field, value]) =>
      secretFields.includes(field) && literals.has(String(value))
        ? [[field, String(value)] as const]
        : [],
    );
    if (own.length > 0) found[name] = Object.fromEntries(own);
  }
  return found;
}
