import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/problem.ts";
import type { Trial } from "../../call/trial.ts";
import type { ProviderEntry, ProviderKey } from "../../catalog/model.ts";
import { defaultKey, withKey } from "../../catalog/provider-keys.ts";
import { connectionDigest, type TargetCheckStore } from "../../catalog/target-checks.ts";
import type { ExportStore } from "../../exports/store.ts";
import type { Warning } from "../../manifest/warnings.ts";
import type { CatalogChangeDependencies } from "../manifest/change.ts";
import type { TroubleView } from "./schemas.ts";
import type { Upstreams } from "./views.ts";

export interface CheckDependencies {
  readonly clock: Clock;
  readonly targetChecks: TargetCheckStore;
  /** Loaded on demand: most commands call no upstream. */
  readonly upstreams?: (() => Promise<Upstreams>) | undefined;
}

export interface ConnectDependencies extends CatalogChangeDependencies, CheckDependencies {
  readonly exports: Pick<ExportStore, "list">;
}

export interface SavedProvider {
  readonly name: string;
  readonly warnings: readonly Warning[];
  /** A test call worked before it was saved. */
  readonly isTested: boolean;
}

/** What a test found before a provider or key was saved, to be recorded with it. */
export interface Tested {
  /** "" for a test of the key alone. */
  readonly model: string;
  readonly isOk: boolean;
}

/**
 * Tries an entry before it is saved: one small call where a model is routed to it, else its list of
 * models. Throws where that fails and it is not to be saved anyway; undefined where nothing was
 * found out.
 */
export async function checkConnection(
  { upstreams }: CheckDependencies,
  options: {
    readonly entry: ProviderEntry;
    readonly key: ProviderKey | undefined;
    readonly trial: Trial | undefined;
    readonly savesAnyway?: boolean | undefined;
  },
): Promise<Tested | undefined> {
  const { entry, key, trial, savesAnyway = false } = options;
  if (upstreams === undefined) return undefined;
  const tried = key === undefined ? entry : withKey(entry, key);
  const found = await (await upstreams()).check(tried, trial);
  const model = trial?.model ?? "";
  if (found.verdict !== "failed")
    return found.verdict === "works" ? { model, isOk: true } : undefined;
  if (!savesAnyway) throw testFailed(found.problem);
  // A wrong key or address fails for every model.
  return { model: fields[found.problem.trouble] === undefined ? model : "", isOk: false };
}

/** They are about the key, whichever model was called. */
export const keyTroubles: readonly string[] = ["bad_key", "unsendable_key", "no_credit"];

export function testFailed({ trouble, what, advice }: TroubleView, command?: string): Problem {
  const field = fields[trouble];
  return new Problem({ code: "test_failed", message: `${what} ${advice}`.trim(), field, command });
}

/** What to look at, by the word for what is wrong. */
const fields: Readonly<Record<string, string>> = {
  bad_key: "api_key",
  unsendable_key: "api_key",
  no_credit: "api_key",
  wrong_address: "base_url",
  no_list: "base_url",
  certificate: "base_url",
  timeout: "base_url",
  private_address: "base_url",
};

/** Records what a test of a saved provider found. */
export async function saveCheck(
  { clock, targetChecks }: Pick<CheckDependencies, "clock" | "targetChecks">,
  check: {
    readonly entry: ProviderEntry;
    readonly key: ProviderKey | undefined;
    /** "" for a test of the key alone. */
    readonly model: string;
    readonly isOk: boolean;
  },
): Promise<void> {
  const { entry, key, model, isOk } = check;
  await targetChecks.save({
    provider: entry.name,
    key: key?.name ?? defaultKey,
    model,
    digest: connectionDigest(entry, key),
    isOk,
    atMs: clock.nowMs(),
  });
}

/**
 * After a call that the vendor rejected for its key. Where another call has worked with this key,
 * only that model is closed to it.
 */
export async function saveRejection(
  dependencies: Pick<CheckDependencies, "clock" | "targetChecks">,
  { entry, key }: { readonly entry: ProviderEntry; readonly key: ProviderKey | undefined },
): Promise<void> {
  const name = key?.name ?? defaultKey;
  const digest = connectionDigest(entry, key);
  const hasWorked = (await dependencies.targetChecks.list()).some(
    (one) =>
      one.isOk &&
      one.model !== "" &&
      one.provider === entry.name &&
      one.key === name &&
      one.digest === digest,
  );
  if (!hasWorked) await saveCheck(dependencies, { entry, key, model: "", isOk: false });
}
