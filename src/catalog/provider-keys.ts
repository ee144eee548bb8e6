import type { ProviderEntry, ProviderKey, StoredSecret } from "./model.ts";

/** The name of the key in `api_key`. */
export const defaultKey = "default";
export const mostKeys = 20;
export const mostKeyWeight = 1_000_000;
export const keyNameText = /^[A-Za-z0-9][\w.-]{0,62}$/;

/** All keys of a provider, paused ones included; none where it needs none. */
export function keysOf({ apiKey, keys = [] }: ProviderEntry): readonly ProviderKey[] {
  return apiKey === undefined ? keys : [{ name: defaultKey, secret: apiKey, weight: 1 }, ...keys];
}

/** The entry with these keys; a plain key named `default` becomes its `apiKey` again. */
export function withKeys(entry: ProviderEntry, all: readonly ProviderKey[]): ProviderEntry {
  const { apiKey: _, keys: __, ...rest } = entry;
  const plain = all.length === 1 || entry.apiKey !== undefined ? all.find(isPlain) : undefined;
  const keys = all.filter((key) => key !== plain);
  return {
    ...rest,
    ...(plain === undefined ? {} : { apiKey: plain.secret }),
    ...(keys.length === 0 ? {} : { keys }),
  };
}

const isPlain = ({ name, weight, isPaused }: ProviderKey) =>
  name === defaultKey && weight === 1 && isPaused !== true;

/** Pauses are the store's: they stay whatever a file or a form says of the rest. */
export function keepPauses(entry: ProviderEntry, before: ProviderEntry | undefined): ProviderEntry {
  const paused = new Set(
    (before?.keys ?? []).filter((key) => key.isPaused === true).map(({ name }) => name),
  );
  const all = keysOf(entry).map(
    (key): ProviderKey => (paused.has(key.name) ? { ...key, isPaused: true } : key),
  );
  const { isPaused: _, ...rest } = withKeys(entry, all);
  return before?.isPaused === true ? { ...rest, isPaused: true } : rest;
}

/** The secret of `api_key`; while it is paused, it is in the list of keys. */
export function plainSecret({ apiKey, keys = [] }: ProviderEntry): StoredSecret | undefined {
  return apiKey ?? keys.find(({ name, weight }) => name === defaultKey && weight === 1)?.secret;
}

/** The keys of `api_keys`. */
export function listedKeys(entry: ProviderEntry): readonly ProviderKey[] {
  const plain = plainSecret(entry);
  return (entry.keys ?? []).filter(({ secret }) => secret !== plain);
}

/** The entry as it is with one of its keys alone, to call it with that key. */
export function withKey(entry: ProviderEntry, key: ProviderKey): ProviderEntry {
  const { apiKey: _, keys: __, ...rest } = entry;
  return { ...rest, apiKey: key.secret };
}

/** The named key; without a name, the only one. */
export function chosenKey(entry: ProviderEntry, name: string | undefined): ProviderKey | undefined {
  const keys = keysOf(entry);
  return name === undefined ? keys[0] : keys.find((key) => key.name === name);
}

/** The last four characters of a key that is long enough to keep the rest secret. */
export const hintOf = (key: string): string | undefined =>
  key.length >= 16 ? key.slice(-4) : undefined;
