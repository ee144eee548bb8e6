import { Problem } from "../base/problem.ts";
import { storedReference } from "../base/stored-reference.ts";
import type { ProviderEntry, ProviderKey, StoredOption, StoredSecret } from "../catalog/model.ts";
import { defaultKey, hintOf, keepPauses, keysOf } from "../catalog/provider-keys.ts";
import { type ProviderKind, providerKindShapes } from "../catalog/provider-kinds.ts";
import { type Secrets } from "../secrets/secrets.ts";
import { isSameHost } from "./kept-secrets.ts";
import { storedMark } from "./literals.ts";
import type { ManifestProvider } from "./read-provider.ts";

/** A provider as the store keeps it: literals sealed, `<stored>` as it was before. */
export function toEntry(options: {
  readonly given: ManifestProvider;
  readonly before: ProviderEntry | undefined;
  readonly secrets: Secrets;
}): ProviderEntry {
  const { given, before, secrets } = options;
  const { apiKey: text, keys: written = [], options: texts, stated: _, ...rest } = given;
  const known = before === undefined ? [] : keysOf(before);
  const isMoved = before !== undefined && !isSameHost(before, given);
  const toSecret = (name: string, key: string) => {
    const secret = known.find((one) => one.name === name)?.secret;
    return toStored({ text: key, place: keyPlace(given.name), before: secret, isMoved, secrets });
  };
  const apiKey = text === undefined ? undefined : toSecret(defaultKey, text);
  const keys = written.map(
    ({ name, key, weight }): ProviderKey => ({ name, secret: toSecret(name, key), weight }),
  );
  const stored = texts && toOptions({ given, before, isMoved, secrets });
  const entry: ProviderEntry = {
    ...rest,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(keys.length === 0 ? {} : { keys }),
    ...(stored === undefined ? {} : { options: stored }),
  };
  return keepPauses(entry, before);
}

/** What the keys of a provider are bound to. All are alike, so that a key can be renamed. */
export const keyPlace = (provider: string) => `provider:${provider}`;

/** Those that are secrets are kept like keys, each sealed for its own place. */
function toOptions(options: {
  readonly given: ManifestProvider;
  readonly before: ProviderEntry | undefined;
  readonly isMoved: boolean;
  readonly secrets: Secrets;
}): Readonly<Record<string, StoredOption>> {
  const { given, before, isMoved, secrets } = options;
  const stored = Object.entries(given.options ?? {}).map(([name, text]) => {
    const variable = storedReference(text);
    if (variable !== undefined) return [name, { variable }] as const;
    if (!isSecretOption(given.kind, name)) return [name, { text }] as const;
    const known = before?.options?.[name];
    const place = optionPlace(given.name, name);
    const sealedBefore = known !== undefined && "sealed" in known ? known : undefined;
    return [name, toStored({ text, place, before: sealedBefore, isMoved, secrets })] as const;
  });
  return Object.fromEntries(stored);
}

/** What a sealed option is bound to, so that it opens nowhere else. */
export const optionPlace = (provider: string, option: string) => `provider:${provider}:${option}`;

export function isSecretOption(kind: ProviderKind, name: string): boolean {
  return providerKindShapes[kind].options[name]?.isSecret === true;
}

function toStored(options: {
  readonly text: string;
  readonly place: string;
  readonly before: StoredSecret | undefined;
  /** Whether the address is another host: a literal is then one that was entered for it. */
  readonly isMoved: boolean;
  readonly secrets: Secrets;
}): StoredSecret {
  const { text, place, before, isMoved, secrets } = options;
  const variable = storedReference(text);
  if (variable !== undefined) return { variable };
  if (text === storedMark) {
    if (before !== undefined && "sealed" in before) return before;
    throw new Problem({
      code: "invalid",
      message: `${place.replace(":", " ")}: api_key is ${storedMark}, but no key is stored for it. Write the key, or \${NAME} for a variable.`,
      field: "api_key",
    });
  }
  // Sealing the same text again gives other bytes: keep the old ones, so that nothing seems changed.
  if (before !== undefined && "sealed" in before && !isMoved)
    if (secrets.open(before.sealed, place) === text) return before;
  return sealKey({ text, place, secrets });
}

/** A literal as the store keeps it. */
export function sealKey(options: {
  readonly text: string;
  readonly place: string;
  readonly secrets: Secrets;
}): StoredSecret {
  const { text, place, secrets } = options;
  const hint = hintOf(text);
  return { sealed: secrets.seal(text, place), ...(hint === undefined ? {} : { hint }) };
}
