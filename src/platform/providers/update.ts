import { invalid, Problem } from "../../base/problem.ts";
import { removedKind, removedKindWords } from "../../base/removed-kind.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import type { ProviderEntry, ProviderKey } from "../../catalog/model.ts";
import { checkFields } from "../../catalog/origin.ts";
import { chosenKey, defaultKey, keysOf, listedKeys } from "../../catalog/provider-keys.ts";
import { providerKindShapes, providerKinds } from "../../catalog/provider-kinds.ts";
import { connectionDigest } from "../../catalog/target-checks.ts";
import { isRecord, type ProviderDraft } from "../../manifest/draft.ts";
import { toProviderDraft } from "../../manifest/export.ts";
import { checkKeptSecrets, refuseMoved } from "../../manifest/kept-secrets.ts";
import { readDraft } from "../../manifest/manifest.ts";
import { toEntry } from "../../manifest/provider-entry.ts";
import { providerWarnings } from "../../manifest/warnings.ts";
import { type Author, before as beforeOf } from "../audit/author.ts";
import {
  type ConnectDependencies,
  checkConnection,
  type SavedProvider,
  saveCheck,
} from "./check.ts";
import { checkReference, readKey } from "./draft.ts";
import type { ProviderChanges } from "./schemas.ts";
import { keyTrial } from "./trials.ts";
import { checkVariables } from "./variables.ts";
import { findEntry } from "./views.ts";

export type ProviderUpdate = ProviderChanges & { readonly name: string };

/** Changes an entry, after a test where its address, key or options change. */
export async function updateEntry(
  dependencies: ConnectDependencies,
  input: ProviderUpdate,
  { actor, audit }: Author,
): Promise<SavedProvider> {
  const { catalog, clock, mutex, takeEffect, variable } = dependencies;
  const content = await catalog.load();
  const { name, skip_test: skipTest = false, save_anyway: savesAnyway } = input;
  const [before, planned] = planUpdate(dependencies, content, input);
  await checkVariables({ entry: planned, content, exports: dependencies.exports, actor });
  const key = newKeyOf(before, planned);
  const trial = keyTrial(content, name);
  const known = chosenKey(before, key?.name);
  const isOther = connectionDigest(before, known) !== connectionDigest(planned, key);
  const tested =
    isOther && !skipTest
      ? await checkConnection(dependencies, { entry: planned, key, trial, savesAnyway })
      : undefined;
  return mutex.run(async () => {
    const current = await catalog.load();
    const [now, after] = planUpdate(dependencies, current, input);
    refuseMoved({ before, after: now });
    // Another change may have brought variables during the test.
    await checkVariables({ entry: after, content: current, exports: dependencies.exports, actor });
    // A sealed secret has other bytes each time, so a key that is given again is a change.
    if (!Bun.deepEquals(now, after)) {
      const write = { atMs: clock.nowMs(), saveProviders: [after] };
      await catalog.write(write, audit({ subject: name, detail: earlierOf(now, input) }));
      await takeEffect();
    }
    if (tested !== undefined)
      await saveCheck(dependencies, {
        entry: after,
        key: chosenKey(after, key?.name),
        ...tested,
      });
    const warnings = providerWarnings(after, (one) => (variable(one) ?? "") !== "");
    return { name, warnings, isTested: tested?.isOk === true };
  });
}

/** For the audit log; keys and options may be secrets, so it has no earlier ones. */
function earlierOf(entry: ProviderEntry, input: ProviderUpdate) {
  const { kind, base_url, allow_private, paused } = input;
  const { baseUrl, allowPrivate, isPaused = false } = entry;
  const earlier = {
    kind: entry.kind,
    base_url: baseUrl === "" ? null : baseUrl,
    allow_private: allowPrivate,
    paused: isPaused,
  };
  return beforeOf(earlier, { kind, base_url, allow_private, paused });
}

/** The key that a change brings, or else the first one. */
function newKeyOf(before: ProviderEntry, after: ProviderEntry): ProviderKey | undefined {
  const keys = keysOf(after);
  const isKnown = ({ name, secret }: ProviderKey) =>
    keysOf(before).some((one) => one.name === name && Bun.deepEquals(one.secret, secret));
  return keys.find((key) => !isKnown(key)) ?? keys[0];
}

/** The entry as it is, and as it would be. */
function planUpdate(
  dependencies: ConnectDependencies,
  content: CatalogContent,
  { name, paused, ...changes }: ProviderUpdate,
): readonly [before: ProviderEntry, after: ProviderEntry] {
  const before = findEntry(content, name);
  const { draft, fields } = changeDraft(before, changes);
  checkFields({ subject: `Provider ${name}`, entry: before, fields });
  const [given] = readDraft({ providers: { [name]: draft } }, dependencies).providers;
  if (given === undefined) throw new Error("the draft was not read");
  const { origin } = before;
  const { isPaused, ...rest } = toEntry({ given, before, secrets: dependencies.secrets });
  const after = {
    ...rest,
    ...((paused ?? isPaused === true) ? { isPaused: true as const } : {}),
    ...(origin === undefined ? {} : { origin }),
  };
  checkKeptSecrets({ before, after });
  return [before, after];
}

/** The entry with its changes, and the fields of svc.yaml that these concern. */
function changeDraft(
  before: ProviderEntry,
  changes: ProviderChanges,
): { readonly draft: ProviderDraft; readonly fields: readonly string[] } {
  const present = toProviderDraft(before);
  const kind = changes.kind ?? before.kind;
  // The command line hands over what was typed.
  if (kind === removedKind)
    throw invalid({ kind: `The ${removedKindWords.what}. ${removedKindWords.advice}` });
  if (!providerKinds.includes(kind))
    throw invalid({ kind: `Kind must be one of ${providerKinds.join(", ")}.` });
  const { options: known } = providerKindShapes[kind];
  // Options of the kind that it had mean nothing to the new one.
  const isOther = kind !== before.kind;
  const own = isOther ? sharedOf(present) : present;
  const changed: ProviderDraft = {};
  const fields: string[] = [];
  const set = (name: string, value: unknown) => {
    if (value === undefined) return;
    changed[name] = value === "" ? null : value;
    fields.push(name);
  };
  set("kind", changes.kind);
  set("base_url", changes.base_url);
  const key = typeof changes.api_key === "string" ? changes.api_key.trim() : changes.api_key;
  if (typeof key === "string") readKey(key);
  const listed = withDefaultKey(before, present["api_keys"], key);
  if (listed === undefined) set("api_key", key);
  else set("api_keys", listed);
  set("allow_private", changes.allow_private);
  for (const [name, value] of Object.entries(changes.options ?? {})) {
    if (value !== null) checkReference(value, `options.${name}`);
    if (Object.hasOwn(known, name)) set(name, value);
    else if (value === null && isOther) continue;
    else
      throw new Problem({
        code: "invalid",
        message: `Unknown option "${name}" for kind ${kind}.`,
        field: `options.${name}`,
      });
  }
  return { draft: { ...own, ...changed }, fields };
}

/** The list with another `default` key, or without one; undefined where the key is not in the list. */
function withDefaultKey(
  before: ProviderEntry,
  listed: unknown,
  key: string | null | undefined,
): readonly unknown[] | undefined {
  const isListed = listedKeys(before).some(({ name }) => name === defaultKey);
  if (key === undefined || !isListed || !Array.isArray(listed)) return undefined;
  return listed.flatMap((one: unknown) => {
    if (!isRecord(one) || one["name"] !== defaultKey) return [one];
    return key === null || key === "" ? [] : [{ ...one, key }];
  });
}

/** Without the vendor, whose kind is another one. */
const sharedOf = ({
  base_url,
  api_key,
  api_keys,
  allow_private,
}: ProviderDraft): ProviderDraft => ({
  ...(base_url === undefined ? {} : { base_url }),
  ...(api_key === undefined ? {} : { api_key }),
  ...(api_keys === undefined ? {} : { api_keys }),
  ...(allow_private === undefined ? {} : { allow_private }),
});
