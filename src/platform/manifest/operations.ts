import type { Clock } from "../../base/clock.ts";
import type { CatalogContent, CatalogStore } from "../../catalog/catalog.ts";
import type { Model } from "../../catalog/model.ts";
import { ownsField } from "../../catalog/origin.ts";
import { planAdoption } from "../../manifest/adoption.ts";
import type { Difference } from "../../manifest/differences.ts";
import type { ManifestDraft } from "../../manifest/draft.ts";
import { exportManifest } from "../../manifest/export.ts";
import { type Literals, withLiterals } from "../../manifest/literals.ts";
import {
  type Manifest,
  type ManifestModel,
  manifestDigest,
  readDraft,
  readManifest,
} from "../../manifest/manifest.ts";
import { type Plan, planApply } from "../../manifest/plan.ts";
import type { AddressCheck } from "../../manifest/read-provider.ts";
import type { Warning } from "../../manifest/warnings.ts";
import type { Secrets } from "../../secrets/secrets.ts";

export interface ApplyView {
  readonly differences: readonly Difference[];
  readonly warnings: readonly Warning[];
  readonly applied: boolean;
}

/** An entry that was added, or was there already. */
export type EntryName =
  | { readonly kind: "provider" | "model"; readonly name: string }
  /** A route: `name` is the model's, the others are where it leads. */
  | {
      readonly kind: "route";
      readonly name: string;
      readonly provider: string;
      readonly model: string;
    };

export interface AddedView extends ApplyView {
  readonly added: readonly EntryName[];
  /** What is there already, and stays as it is. */
  readonly kept: readonly EntryName[];
}

export interface ManifestOperations {
  /**
   * With the name of a file, makes the store match it; without one, creates and changes entries of
   * the store. `adopts`: the file takes over what it did not create.
   */
  applyManifest(input: {
    text: string;
    dryRun: boolean;
    file?: string | undefined;
    /** It is the config file, which a start applies again once it has changed. */
    isOwnFile?: boolean;
    adopts?: boolean;
  }): Promise<ApplyView>;
  exportManifest(input: Record<never, never>): Promise<{ readonly yaml: string }>;
  /**
   * Adds entries to the store. A provider that is there is kept; a model that is there gets the
   * routes that it lacks. Models in `replaces` get the routes, prices and limits of the draft.
   */
  addEntries(input: {
    draft: ManifestDraft;
    literals?: Literals;
    replaces?: readonly string[];
    dryRun: boolean;
  }): Promise<AddedView>;
}

/** What changes of the catalogue need. */
export interface CatalogChangeParts {
  readonly catalog: CatalogStore;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  readonly takeEffect: () => Promise<void>;
  /** One change at a time: each reads what is there before it writes. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

export function manifestOperations(parts: CatalogChangeParts): ManifestOperations {
  const { catalog, clock, inTurn } = parts;
  return {
    applyManifest: (input) => inTurn(() => applyText(parts, input)),
    async exportManifest() {
      return { yaml: exportManifest(await catalog.load(), clock.nowMs()) };
    },
    addEntries: ({ draft, literals = {}, replaces = [], dryRun }) =>
      inTurn(async () => {
        const current = await catalog.load();
        const manifest = readDraft(withLiterals(draft, literals), {
          checkAddress: parts.checkAddress,
          known: current.providers.map(({ name }) => name),
        });
        const { additions, added, kept } = findAdditions(manifest, current, replaces);
        const plan = planOn(parts, { manifest: additions, current });
        const applied = await put(parts, { plan, dryRun });
        return { ...applied, added, kept };
      }),
  };
}

async function applyText(
  parts: CatalogChangeParts,
  input: Parameters<ManifestOperations["applyManifest"]>[0],
): Promise<ApplyView> {
  const { catalog, checkAddress } = parts;
  const { text, dryRun, file, isOwnFile = false } = input;
  const current = await catalog.load();
  const { hash, adopts } = await catalog.manifestState();
  const isOther = ({ origin }: { origin?: { file: string } }) => origin?.file !== file;
  const known = current.providers.filter((one) => file === undefined || isOther(one));
  const manifest = readManifest(text, { checkAddress, known: known.map(({ name }) => name) });
  const digest = isOwnFile ? manifestDigest(text) : undefined;
  const isUpgrade = file !== undefined && adopts;
  const options = { manifest, current, file, adopts: input.adopts === true || isUpgrade };
  const isUnchanged = isUpgrade && digest !== undefined && digest === hash;
  const plan =
    isUnchanged && input.adopts !== true
      ? planAdoption({ ...optionsOn(parts, options), file })
      : planOn(parts, options);
  const marks = file !== undefined && isMarked(plan, current);
  return put(parts, {
    plan,
    dryRun,
    isWritten: marks || digest !== undefined || isUpgrade,
    also: {
      ...(digest === undefined ? {} : { manifestHash: digest }),
      ...(isUpgrade ? { endsAdoption: true as const } : {}),
    },
  });
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

interface Planned {
  readonly manifest: Manifest;
  readonly current: CatalogContent;
  readonly file?: string | undefined;
  readonly adopts?: boolean;
}

const optionsOn = ({ secrets, variable, clock }: CatalogChangeParts, planned: Planned) => ({
  ...planned,
  secrets,
  hasVariable: (name: string) => (variable(name) ?? "") !== "",
  nowMs: clock.nowMs(),
});

/** What an apply of these entries would do. */
export const planOn = (parts: CatalogChangeParts, planned: Planned): Plan =>
  planApply(optionsOn(parts, planned));

/** Writes a plan and puts it in force. */
export async function put(
  { catalog, takeEffect }: CatalogChangeParts,
  options: {
    readonly plan: Plan;
    readonly dryRun?: boolean;
    /** Also where no value changes. */
    readonly isWritten?: boolean;
    readonly also?: { readonly manifestHash?: string; readonly endsAdoption?: true };
  },
): Promise<ApplyView> {
  const { plan, dryRun = false, isWritten = false, also = {} } = options;
  const { differences, warnings, write } = plan;
  const isChange = differences.some(({ action }) => action !== "keep");
  if (!dryRun && (isChange || isWritten)) {
    await catalog.write({ ...write, ...also });
    await takeEffect();
  }
  return { differences, warnings, applied: !dryRun && isChange };
}

interface Additions {
  readonly additions: Manifest;
  readonly added: readonly EntryName[];
  readonly kept: readonly EntryName[];
}

/** What of these entries is new. */
function findAdditions(
  { providers, models }: Manifest,
  current: CatalogContent,
  replaces: readonly string[],
): Additions {
  const added: EntryName[] = [];
  const kept: EntryName[] = [];
  const newProviders = providers.filter(({ name }) => {
    const isNew = current.providers.every((known) => known.name !== name);
    (isNew ? added : kept).push({ kind: "provider", name });
    return isNew;
  });
  const newModels = models.flatMap((given): readonly ManifestModel[] => {
    const before = current.models.find(({ id }) => id === given.id);
    if (before === undefined || replaces.includes(given.id)) {
      added.push({ kind: "model", name: given.id });
      return [given];
    }
    const grown = withNewRoutes(given, before);
    added.push(...grown.added);
    kept.push(...grown.kept);
    return grown.model === undefined ? [] : [grown.model];
  });
  return { additions: { providers: newProviders, models: newModels }, added, kept };
}

/** A model that is there gets routes, and a price where it has none; the rest stays. */
function withNewRoutes(
  given: ManifestModel,
  before: Model,
): { readonly model?: ManifestModel; added: EntryName[]; kept: EntryName[] } {
  const { id } = given;
  // A route of another kind of model would never be right; those of a file are the file's.
  const isOther = given.endpoint !== before.endpoint || given.input !== before.input;
  const isSame = (one: Model["routes"][number]) =>
    before.routes.some(({ provider, model }) => one.provider === provider && one.model === model);
  const toName = ({ provider, model }: Model["routes"][number]): EntryName => ({
    kind: "route",
    name: id,
    provider,
    model,
  });
  const fresh = given.routes.filter((route) => !isSame(route));
  if (isOther || ownsField(before, "routes") || fresh.length === 0)
    return { added: [], kept: [{ kind: "model", name: id }] };
  const isUnpriced = before.prices.every(({ price }) => price === undefined);
  const { price, ...rest } = given;
  return {
    model: {
      ...rest,
      ...(isUnpriced && price !== undefined ? { price } : {}),
      routes: [...before.routes, ...fresh],
      stated: ["routes"],
    },
    added: fresh.map(toName),
    kept: given.routes.filter(isSame).map(toName),
  };
}
