import { conflict, invalid, Problem } from "../../base/problem.ts";
import type { ProviderEntry, ProviderKey } from "../../catalog/model.ts";
import { checkFields } from "../../catalog/origin.ts";
import {
  defaultKey,
  keyNameText,
  keysOf,
  mostKeys,
  withKeys,
} from "../../catalog/provider-keys.ts";
import { refuseMoved } from "../../manifest/kept-secrets.ts";
import { keyPlace, sealKey } from "../../manifest/provider-entry.ts";
import { providerWarnings } from "../../manifest/warnings.ts";
import type { Audits, Author, Unbound } from "../audit/author.ts";
import {
  checkConnection,
  type ConnectDependencies as Dependencies,
  type SavedProvider,
  saveCheck,
} from "./check.ts";
import { readKey } from "./draft.ts";
import type { KeyChanges, NewKey } from "./schemas.ts";
import { keyTrial } from "./trials.ts";
import { checkVariables } from "./variables.ts";
import { findEntry } from "./views.ts";

interface OneKey {
  readonly provider: string;
  readonly key: string;
}

export interface ProviderKeyOperations {
  addKey(input: NewKey & { provider: string }): Promise<SavedProvider>;
  updateKey(input: KeyChanges & OneKey): Promise<SavedProvider>;
  removeKey(input: OneKey): Promise<SavedProvider>;
}

export const providerKeyAudits = {
  addKey: {
    action: "provider.key.add",
    detail: ({ name, weight = 1 }) => ({ key: name, weight }),
  },
  updateKey: {
    action: "provider.key.update",
    detail: ({ key, name, weight, paused, api_key }) => ({
      key,
      ...(name === undefined ? {} : { name }),
      ...(weight === undefined ? {} : { weight }),
      ...(paused === undefined ? {} : { paused }),
      ...(api_key === undefined ? {} : { api_key: "replaced" }),
    }),
  },
  removeKey: { action: "provider.key.remove", detail: ({ key }) => ({ key }) },
} satisfies Audits<ProviderKeyOperations>;

/** Several keys for one provider: calls are spread over them, and each rests by itself. */
export function providerKeyOperations(
  dependencies: Dependencies,
): Unbound<ProviderKeyOperations, typeof providerKeyAudits> {
  const { secrets } = dependencies;
  const seal = (provider: string, text: string) => {
    const { keyEnv, literal } = readKey(text.trim());
    if (keyEnv !== undefined) return { variable: keyEnv };
    if (literal === undefined) throw invalid({ api_key: "API key is missing." });
    return sealKey({ text: literal, place: keyPlace(provider), secrets });
  };
  return {
    addKey({ provider, name, api_key, weight = 1, skip_test = false, ...rest }, author) {
      const { save_anyway: savesAnyway } = rest;
      const key = { name, secret: seal(provider, api_key), weight };
      const change = (all: readonly ProviderKey[]) => {
        checkName(name, all);
        if (all.length >= mostKeys)
          throw conflict({ name: `${provider} already has ${mostKeys} keys. Remove one first.` });
        return [...all, key];
      };
      const tested = skip_test ? undefined : key;
      return changeKeys(dependencies, {
        provider,
        changed: name,
        change,
        tested,
        savesAnyway,
        author,
      });
    },
    updateKey({ provider, key: known, name, api_key, weight, paused, skip_test, ...rest }, author) {
      const secret = api_key === undefined ? undefined : seal(provider, api_key);
      const change = (all: readonly ProviderKey[]) => {
        const before = findKey(all, provider, known);
        if (name !== undefined && name !== known) checkName(name, all);
        const after = toChanged(before, { name, secret, weight, paused });
        return all.map((one) => (one === before ? after : one));
      };
      const tested =
        secret === undefined || skip_test === true
          ? undefined
          : { name: name ?? known, secret, weight: 1 };
      const isPause = isOnlyPause({ name, api_key, weight });
      return changeKeys(dependencies, {
        provider,
        changed: known,
        change,
        tested,
        savesAnyway: rest.save_anyway,
        author,
        isPause,
      });
    },
    removeKey({ provider, key }, author) {
      const change = (all: readonly ProviderKey[]) => {
        const gone = findKey(all, provider, key);
        return all.filter((one) => one !== gone);
      };
      return changeKeys(dependencies, {
        provider,
        changed: key,
        change,
        tested: undefined,
        author,
      });
    },
  };
}

const isOnlyPause = (changes: Pick<KeyChanges, "name" | "api_key" | "weight">) =>
  Object.values(changes).every((one) => one === undefined);

function toChanged(
  before: ProviderKey,
  changes: {
    readonly name: string | undefined;
    readonly secret: ProviderKey["secret"] | undefined;
    readonly weight: number | undefined;
    readonly paused: boolean | undefined;
  },
): ProviderKey {
  const { name, secret, weight, paused } = changes;
  const { isPaused: _, ...rest } = before;
  return {
    ...rest,
    ...(name === undefined ? {} : { name }),
    ...(secret === undefined ? {} : { secret }),
    ...(weight === undefined ? {} : { weight }),
    ...((paused ?? before.isPaused === true) ? { isPaused: true } : {}),
  };
}

function checkName(name: string, all: readonly ProviderKey[]): void {
  if (!keyNameText.test(name))
    throw invalid({ name: `"${name}" is not a valid key name. Use letters, digits, and . _ -` });
  if (all.some((one) => one.name === name))
    throw conflict({ name: `Key "${name}" already exists. Choose another name.` });
}

function findKey(all: readonly ProviderKey[], provider: string, name: string): ProviderKey {
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = all.map((one) => one.name).join(", ");
  throw new Problem({
    code: "not_found",
    message: `${provider} has no key "${name}".${names === "" ? "" : ` Keys: ${names}.`}`,
    field: "key",
    command: `provider key list ${provider}`,
  });
}

interface KeyChange {
  readonly provider: string;
  /** The name of the key that changes, as it is now. */
  readonly changed: string;
  readonly change: (all: readonly ProviderKey[]) => readonly ProviderKey[];
  /** What is tried before it is saved. */
  readonly tested: ProviderKey | undefined;
  readonly savesAnyway?: boolean | undefined;
  readonly author: Author;
  /** A pause is the store's, whoever defines the key. */
  readonly isPause?: boolean;
}

async function changeKeys(dependencies: Dependencies, options: KeyChange): Promise<SavedProvider> {
  const { catalog, clock, mutex, takeEffect, variable } = dependencies;
  const { provider, change, tested, savesAnyway, author } = options;
  const first = await catalog.load();
  const checked = toAfter(findEntry(first, provider), options);
  const { exports } = dependencies;
  await checkVariables({ entry: checked, content: first, exports, actor: author.actor });
  const trial = keyTrial(first, provider);
  const found =
    tested === undefined
      ? undefined
      : await checkConnection(dependencies, { entry: checked, key: tested, trial, savesAnyway });
  return mutex.run(async () => {
    const current = await catalog.load();
    const after = toAfter(findEntry(current, provider), { ...options, change });
    refuseMoved({ before: checked, after });
    const write = { atMs: clock.nowMs(), saveProviders: [after] };
    await catalog.write(write, author.audit({ subject: provider }));
    await takeEffect();
    if (found !== undefined) {
      const key = keysOf(after).find(({ name }) => name === tested?.name);
      await saveCheck(dependencies, { entry: after, key, ...found });
    }
    const warnings = providerWarnings(after, (one) => (variable(one) ?? "") !== "");
    return { name: provider, warnings, isTested: found?.isOk === true };
  });
}

function toAfter(before: ProviderEntry, options: KeyChange): ProviderEntry {
  const { provider, changed, change, isPause = false } = options;
  const isDefault = changed === defaultKey && before.apiKey !== undefined;
  const all = keysOf(before);
  const after = change(all);
  if (!isPause)
    checkFields({
      subject: `Provider ${provider}`,
      entry: before,
      fields: [isDefault ? "api_key" : "api_keys"],
    });
  return withKeys(before, after);
}
