import { Problem } from "../../base/problem.ts";
import type { CatalogContent } from "../../catalog/catalog.ts";
import type { Origin } from "../../catalog/origin.ts";
import { planAdoption } from "../../manifest/adoption.ts";
import type { ManifestDraft } from "../../manifest/draft.ts";
import { exportManifest } from "../../manifest/export.ts";
import type { Literals } from "../../manifest/literals.ts";
import { manifestDigest, readManifest } from "../../manifest/manifest.ts";
import type { Plan } from "../../manifest/plan.ts";
import type { Audits, Author, Unbound } from "../audit/author.ts";
import {
  type AddedView,
  type ApplyView,
  addEntries,
  type CatalogChangeDependencies,
  optionsOn,
  planOn,
  put,
} from "./change.ts";

export interface ManifestOperations {
  /**
   * With the name of a file, makes the store match it; without one, creates and changes entries of
   * the store. `adopts`: the file takes over what it did not create.
   */
  apply(input: {
    text: string;
    dryRun: boolean;
    file?: string | undefined;
    /** It is the config file, which a start applies again once it has changed. */
    isOwnFile?: boolean;
    /** A server starts: one provider that this version cannot serve does not stop the others. */
    isStart?: boolean;
    adopts?: boolean;
  }): Promise<ApplyView>;
  /** What a file defined is the store's from now on, with its values. The file need not exist. */
  release(input: { file: string; dryRun: boolean }): Promise<ReleaseView>;
  export(input: Record<never, never>): Promise<{ readonly yaml: string }>;
  /**
   * Adds entries to the store. A provider that is there is kept; a model that is there gets the
   * routes that it lacks. Models in `replaces` get the routes, prices and limits of the draft.
   */
  add(input: {
    draft: ManifestDraft;
    literals?: Literals;
    replaces?: readonly string[];
    dryRun: boolean;
  }): Promise<AddedView>;
}

export interface ReleaseView {
  readonly released: readonly { readonly kind: "provider" | "model"; readonly name: string }[];
}

export const manifestAudits = {
  release: { action: "manifest.release", detail: ({ file }) => ({ file }) },
  apply: { action: "manifest.apply", detail: ({ file = null }) => ({ file }) },
  export: null,
  add: { action: "manifest.add" },
} satisfies Audits<ManifestOperations>;

export function manifestOperations(
  dependencies: CatalogChangeDependencies,
): Unbound<ManifestOperations, typeof manifestAudits> {
  const { catalog, clock, mutex } = dependencies;
  const toAudit =
    ({ audit }: Author) =>
    (detail: Readonly<Record<string, readonly string[]>>) =>
      audit({ subject: "catalog", detail });
  return {
    apply: (input, author) => mutex.run(() => applyText(dependencies, input, toAudit(author))),
    release: (input, author) => mutex.run(() => releaseFile(dependencies, input, toAudit(author))),
    async export() {
      return { yaml: exportManifest(await catalog.load(), clock.nowMs()) };
    },
    add: (input, author) => mutex.run(() => addEntries(dependencies, input, toAudit(author))),
  };
}

async function applyText(
  dependencies: CatalogChangeDependencies,
  input: Parameters<ManifestOperations["apply"]>[0],
  toAudit: Parameters<typeof put>[1]["toAudit"],
): Promise<ApplyView> {
  const { catalog, checkAddress } = dependencies;
  const { text, dryRun, file, isOwnFile = false, isStart: keepsRemoved } = input;
  const current = await catalog.load();
  const { hash, adopts } = await catalog.manifestState();
  const isOther = ({ origin }: { origin?: { file: string } }) => origin?.file !== file;
  const known = current.providers.filter((one) => file === undefined || isOther(one));
  const names = known.map(({ name }) => name);
  const manifest = readManifest(text, { checkAddress, keepsRemoved, known: names });
  const digest = isOwnFile ? manifestDigest(text) : undefined;
  const isUpgrade = file !== undefined && adopts;
  const options = { manifest, current, file, adopts: input.adopts === true || isUpgrade };
  const isUnchanged = isUpgrade && digest !== undefined && digest === hash;
  const plan =
    isUnchanged && input.adopts !== true
      ? planAdoption({ ...optionsOn(dependencies, options), file })
      : planOn(dependencies, options);
  const marks = file !== undefined && isMarked(plan, current);
  return put(dependencies, {
    plan,
    dryRun,
    isWritten: marks || digest !== undefined || isUpgrade,
    isAudited: marks,
    toAudit,
    also: {
      ...(digest === undefined ? {} : { manifestHash: digest }),
      ...(isUpgrade ? { endsAdoption: true as const } : {}),
    },
  });
}

async function releaseFile(
  { catalog, clock, takeEffect }: CatalogChangeDependencies,
  { file, dryRun }: Parameters<ManifestOperations["release"]>[0],
  toAudit: Parameters<typeof put>[1]["toAudit"],
): Promise<ReleaseView> {
  const current = await catalog.load();
  const isOurs = ({ origin }: { readonly origin?: Origin }) => origin?.file === file;
  const free = <T extends { readonly origin?: Origin }>(entry: T) => {
    const { origin: _origin, ...rest } = entry;
    return rest;
  };
  const [providers, models] = [current.providers.filter(isOurs), current.models.filter(isOurs)];
  const released = [
    ...providers.map(({ name }) => ({ kind: "provider" as const, name })),
    ...models.map(({ id }) => ({ kind: "model" as const, name: id })),
  ];
  if (released.length === 0) {
    const others = [...current.providers, ...current.models].flatMap(
      ({ origin }) => origin?.file ?? [],
    );
    throw new Problem({
      code: "not_found",
      message: `${file} does not define any entries. Files that do: ${[...new Set(others)].join(", ") || "none"}.`,
    });
  }
  if (!dryRun) {
    const names = released.map(({ kind, name }) => `${kind} ${name}`);
    await catalog.write(
      { atMs: clock.nowMs(), saveProviders: providers.map(free), saveModels: models.map(free) },
      toAudit({ released: names }),
    );
    await takeEffect();
  }
  return { released };
}

/** Whether an entry changes hands although its values stay. */
function isMarked({ write }: Plan, current: CatalogContent): boolean {
  const { saveProviders = [], saveModels = [] } = write;
  const isOther = (one: object | undefined, other: object | undefined) =>
    !Bun.deepEquals(one, other);
  return (
    saveProviders.some(({ name, origin }) =>
      isOther(origin, current.providers.find((one) => one.name === name)?.origin),
    ) ||
    saveModels.some(({ id, origin }) =>
      isOther(origin, current.models.find((one) => one.id === id)?.origin),
    )
  );
}
