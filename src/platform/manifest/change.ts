import type { AuditRecord } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import type { Mutex } from "../../base/mutex.ts";
import type { CatalogContent, CatalogStore } from "../../catalog/catalog.ts";
import type { Model } from "../../catalog/model.ts";
import { ownsField } from "../../catalog/origin.ts";
import type { Difference } from "../../manifest/differences.ts";
import type { ManifestDraft } from "../../manifest/draft.ts";
import { type Literals, withLiterals } from "../../manifest/literals.ts";
import { type Manifest, type ManifestModel, readDraft } from "../../manifest/manifest.ts";
import { type Plan, planApply } from "../../manifest/plan.ts";
import type { AddressCheck } from "../../manifest/read-provider.ts";
import type { Warning } from "../../manifest/warnings.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import type { Author } from "../audit/author.ts";

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

/** What changes of the catalog need. */
export interface CatalogChangeDependencies {
  readonly catalog: CatalogStore;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly variable: (name: string) => string | undefined;
  readonly checkAddress: AddressCheck;
  readonly takeEffect: () => Promise<void>;
  /** One change at a time: each reads the current state before it writes. */
  readonly mutex: Mutex;
}

interface Planned {
  readonly manifest: Manifest;
  readonly current: CatalogContent;
  readonly file?: string | undefined;
  readonly adopts?: boolean;
}

export const optionsOn = (
  { secrets, variable, clock }: CatalogChangeDependencies,
  planned: Planned,
) => ({
  ...planned,
  secrets,
  hasVariable: (name: string) => (variable(name) ?? "") !== "",
  nowMs: clock.nowMs(),
});

/** What an apply of these entries would do. */
export const planOn = (dependencies: CatalogChangeDependencies, planned: Planned): Plan =>
  planApply(optionsOn(dependencies, planned));

type ToAudit = (detail: Readonly<Record<string, readonly string[]>>) => AuditRecord;

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

/** The record of one entry's change: the entry says it all. */
export const auditOfEntry =
  ({ audit }: Author, subject: string): ToAudit =>
  () =>
    audit({ subject });

/** Writes a plan and activates it. */
export async function put(
  { catalog, takeEffect }: CatalogChangeDependencies,
  options: {
    readonly plan: Plan;
    readonly dryRun?: boolean;
    /** Also where no value changes. */
    readonly isWritten?: boolean;
    /** Also where entries only change hands. */
    readonly isAudited?: boolean;
    readonly also?: { readonly manifestHash?: string; readonly endsAdoption?: true };
    readonly toAudit: ToAudit;
  },
): Promise<ApplyView> {
  const { plan, dryRun = false, isWritten = false, isAudited = false, also = {} } = options;
  const { differences, warnings, write } = plan;
  const changed = differences.filter(({ action }) => action !== "keep");
  const isChange = changed.length > 0;
  if (!dryRun && (isChange || isWritten)) {
    const audit = isChange || isAudited ? options.toAudit(toDetail(changed)) : undefined;
    await catalog.write({ ...write, ...also }, audit);
    await takeEffect();
  }
  return { differences, warnings, applied: !dryRun && isChange };
}

/** Adds entries to the store. Existing entries stay, except for models in `replaces`. */
export async function addEntries(
  dependencies: CatalogChangeDependencies,
  input: {
    readonly draft: ManifestDraft;
    readonly literals?: Literals;
    readonly replaces?: readonly string[];
    readonly dryRun: boolean;
  },
  toAudit: ToAudit,
): Promise<AddedView> {
  const { draft, literals = {}, replaces = [], dryRun } = input;
  const current = await dependencies.catalog.load();
  const manifest = readDraft(withLiterals(draft, literals), {
    checkAddress: dependencies.checkAddress,
    known: current.providers.map(({ name }) => name),
  });
  const { additions, added, kept } = findAdditions(manifest, current, replaces);
  const plan = planOn(dependencies, { manifest: additions, current });
  const applied = await put(dependencies, { plan, dryRun, toAudit });
  return { ...applied, added, kept };
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
