import type { Clock } from "../../base/clock.ts";
import type { CatalogContent, CatalogStore } from "../../catalog/catalog.ts";
import { manifestDigest } from "../../manifest/digest.ts";
import { exportManifest } from "../../manifest/export.ts";
import { type Literals, withLiterals } from "../../manifest/literals.ts";
import { type Manifest, readManifest } from "../../manifest/manifest.ts";
import { type Difference, planApply } from "../../manifest/plan.ts";
import type { AddressCheck } from "../../manifest/read-provider.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { Audits, Unbound } from "../audit/author.ts";

export interface ApplyView {
  readonly differences: readonly Difference[];
  readonly warnings: readonly string[];
  readonly applied: boolean;
}

export interface ManifestOperations {
  apply(input: {
    text: string;
    dryRun: boolean;
    isOwnFile?: boolean;
    literals?: Literals;
  }): Promise<ApplyView>;
  export(input: Record<never, never>): Promise<{ readonly yaml: string }>;
  /** What commands have changed since this text, the config file's, was applied. */
  drift(input: { text: string }): Promise<readonly Difference[]>;
  /** Whether a config file was applied: a change of it is applied at the next start. */
  isApplied(input: Record<never, never>): Promise<boolean>;
}

export const manifestAudits = {
  apply: { action: "manifest.apply" },
  export: null,
  drift: null,
  isApplied: null,
} satisfies Audits<ManifestOperations>;

export interface ManifestParts {
  readonly catalog: CatalogStore;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  readonly takeEffect: () => Promise<void>;
}

export function manifestOperations(
  parts: ManifestParts,
): Unbound<ManifestOperations, typeof manifestAudits> {
  const { catalog, secrets, variable, checkAddress, clock, takeEffect } = parts;
  const planOf = (manifest: Manifest, current: CatalogContent) =>
    planApply({
      manifest,
      current,
      secrets,
      hasVariable: (name) => (variable(name) ?? "") !== "",
      nowMs: clock.nowMs(),
    });
  return {
    async apply({ text, dryRun, isOwnFile = false, literals = {} }, { audit }) {
      const manifest = withLiterals(readManifest(text, checkAddress), literals);
      const plan = planOf(manifest, await catalog.load());
      const changed = plan.differences.filter(({ action }) => action !== "keep");
      const isChange = changed.length > 0;
      const manifestHash = isOwnFile ? manifestDigest(text) : undefined;
      if (!dryRun && (isChange || isOwnFile)) {
        await catalog.write(
          manifestHash === undefined ? plan.write : { ...plan.write, manifestHash },
          isChange ? audit({ subject: "catalogue", detail: toDetail(changed) }) : undefined,
        );
        await takeEffect();
      }
      return {
        differences: plan.differences,
        warnings: plan.warnings,
        applied: !dryRun && isChange,
      };
    },
    async export() {
      return { yaml: exportManifest(await catalog.load(), clock.nowMs()) };
    },
    async drift({ text }) {
      if ((await catalog.manifestHash()) !== manifestDigest(text)) return [];
      const plan = planOf(readManifest(text, checkAddress), await catalog.load());
      return plan.differences.filter(({ action }) => action !== "keep");
    },
    isApplied: async () => (await catalog.manifestHash()) !== undefined,
  };
}

/** The names of what was created, changed and removed. */
function toDetail(changed: readonly Difference[]): Readonly<Record<string, readonly string[]>> {
  const byAction = Map.groupBy(changed, ({ action }) => action);
  return Object.fromEntries(
    [...byAction].map(([action, differences]) => [
      action,
      differences.map(({ kind, name }) => `${kind} ${name}`),
    ]),
  );
}
