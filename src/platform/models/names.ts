import { conflict, invalid, Problem } from "../../base/problem.ts";
import {
  checkNames,
  modelIdCharacters,
  modelIdPattern,
  mostAliases,
  ownerOf,
} from "../../catalog/aliases.ts";
import { type Model, seededModels } from "../../catalog/model.ts";
import { checkFields, definedIn } from "../../catalog/origin.ts";
import type { KeyStore } from "../../keys/directory.ts";
import { closeSums, type MoneyDependencies } from "../accounts/funds.ts";
import { type Audits, type Author, omit, type Unbound } from "../audit/author.ts";
import { findModel } from "../input/values.ts";
import type { CatalogChangeDependencies } from "../manifest/change.ts";
import type { CatalogEntryView, RemovedModel } from "./schemas.ts";
import { type ModelDependencies, toEntryView, viewedBy } from "./views.ts";

/** The ids that callers use for a model. */
export interface NameOperations {
  addAlias(input: { id: string; alias: string }): Promise<CatalogEntryView>;
  removeAlias(input: { id: string; alias: string }): Promise<CatalogEntryView>;
  /** Only of a model that was never called: receipts name the others. */
  rename(input: {
    id: string;
    to: string;
    keepAlias?: boolean | undefined;
  }): Promise<CatalogEntryView>;
  /** Only of a model that was never called. */
  remove(input: { id: string }): Promise<RemovedModel>;
}

export const nameAudits = {
  addAlias: { action: "model.alias", detail: ({ alias }) => ({ add: alias }) },
  removeAlias: { action: "model.alias", detail: ({ alias }) => ({ remove: alias }) },
  rename: { action: "model.rename", detail: (input) => omit(input, "id") },
  remove: { action: "model.remove" },
} satisfies Audits<NameOperations>;

export interface NameDependencies
  extends CatalogChangeDependencies,
    ModelDependencies,
    Pick<MoneyDependencies, "ledger" | "money"> {
  readonly keys: Pick<KeyStore, "all">;
  /** The config file, if it has an `engine:` section: each start adds the embedded models. */
  readonly engineFile: string | undefined;
}

export function nameOperations(
  dependencies: NameDependencies,
): Unbound<NameOperations, typeof nameAudits> {
  const { mutex } = dependencies;
  return {
    addAlias: ({ id, alias }, author) =>
      mutex.run(() =>
        changeAliases(dependencies, { id, author }, (aliases) => {
          checkId(alias, "alias");
          if (aliases.includes(alias))
            throw conflict({ alias: `"${alias}" is already an alias of ${id}.` });
          return [...aliases, alias];
        }),
      ),
    removeAlias: ({ id, alias }, author) =>
      mutex.run(() =>
        changeAliases(dependencies, { id, author }, (aliases) => {
          if (aliases.includes(alias)) return aliases.filter((one) => one !== alias);
          throw new Problem({
            code: "not_found",
            message: `Model ${id} has no alias "${alias}".`,
            field: "alias",
            command: "model list",
          });
        }),
      ),
    rename: (input, author) => mutex.run(() => rename(dependencies, input, author)),
    remove: (input, author) => mutex.run(() => remove(dependencies, input, author)),
  };
}

async function changeAliases(
  dependencies: NameDependencies,
  { id, author }: { readonly id: string; readonly author: Author },
  change: (aliases: readonly string[]) => readonly string[],
): Promise<CatalogEntryView> {
  const { models } = await dependencies.catalog.load();
  const before = findModel(models, id);
  checkFields({ subject: `Model ${id}`, entry: before, fields: ["aliases"] });
  const after = withAliases(before, change(before.aliases ?? []));
  if ((after.aliases?.length ?? 0) > mostAliases)
    throw invalid({ alias: `A model can have at most ${mostAliases} aliases.` });
  checkNames(models.map((model) => (model === before ? after : model)));
  return save(dependencies, { saveModels: [after] }, { id, author });
}

function withAliases(model: Model, aliases: readonly string[]): Model {
  const { aliases: _, ...rest } = model;
  return aliases.length === 0 ? rest : { ...rest, aliases };
}

function checkId(id: string, field: string): void {
  if (!modelIdPattern.test(id))
    throw invalid({ [field]: `"${id}" is not a valid id. Use ${modelIdCharacters}.` });
}

async function save(
  dependencies: NameDependencies,
  write: {
    readonly saveModels: readonly Model[];
    readonly renameModel?: { readonly from: string; readonly to: string };
  },
  { id, author }: { readonly id: string; readonly author: Author },
): Promise<CatalogEntryView> {
  const { catalog, clock, takeEffect } = dependencies;
  await catalog.write({ atMs: clock.nowMs(), ...write }, author.audit({ subject: id }));
  await takeEffect();
  const content = await catalog.load();
  const model = findModel(content.models, write.renameModel?.to ?? id);
  const viewed = await viewedBy(dependencies, content);
  return toEntryView({ ...viewed, model, nowMs: clock.nowMs() });
}

async function rename(
  dependencies: NameDependencies,
  { id, to, keepAlias = false }: Parameters<NameOperations["rename"]>[0],
  author: Author,
): Promise<CatalogEntryView> {
  const { models } = await dependencies.catalog.load();
  const model = findModel(models, id);
  checkId(to, "id");
  if (to === id) throw invalid({ id: `The model is already called ${id}.` });
  const owner = ownerOf(models, to);
  if (owner !== undefined && owner !== model)
    throw conflict({
      id: owner.id === to ? `Model "${to}" already exists.` : `"${to}" is an alias of ${owner.id}.`,
    });
  checkUndeclared(dependencies, model);
  if (await isCalled(dependencies, id))
    throw new Problem({
      code: "conflict",
      message: `Model ${id} has been called, so its id stays. Add "${to}" as an alias instead.`,
      field: "id",
      command: `model alias ${id} ${to}`,
    });
  const aliases = [
    ...(model.aliases ?? []).filter((alias) => alias !== to),
    ...(keepAlias ? [id] : []),
  ];
  const renamed = withAliases({ ...model, id: to }, aliases);
  const followers = models
    .filter(({ lifecycle }) => lifecycle.replacement === id)
    .map((one) => ({ ...one, lifecycle: { ...one.lifecycle, replacement: to } }));
  const write = { saveModels: [renamed, ...followers], renameModel: { from: id, to } };
  return save(dependencies, write, { id, author });
}

async function remove(
  dependencies: NameDependencies,
  { id }: Parameters<NameOperations["remove"]>[0],
  { audit }: Author,
): Promise<RemovedModel> {
  const { catalog, clock, takeEffect, keys } = dependencies;
  const { models } = await catalog.load();
  const model = findModel(models, id);
  checkUndeclared(dependencies, model);
  const replaced = models.find(({ lifecycle }) => lifecycle.replacement === id);
  if (replaced !== undefined)
    throw new Problem({
      code: "conflict",
      message: `Model ${id} replaces ${replaced.id}. Choose another replacement for ${replaced.id} first.`,
      command: `model deprecate ${replaced.id} --retires DATE --replacement ID`,
    });
  if (await isCalled(dependencies, id))
    throw new Problem({
      code: "conflict",
      message: `Model ${id} has been called, so it cannot be deleted. Deprecate and retire it instead.`,
      command: `model deprecate ${id} --retires DATE --replacement ID`,
    });
  const nowMs = clock.nowMs();
  await catalog.write({ atMs: nowMs, removeModels: [id] }, audit({ subject: id }));
  await takeEffect();
  const naming = (await keys.all()).filter(
    (key) => key.models?.has(id) === true && key.revokedAtMs === undefined,
  );
  return { id, keys: naming.map((key) => ({ id: key.id, name: key.name })) };
}

/** The next start would add it again. */
function checkUndeclared({ engineFile }: NameDependencies, { id, origin }: Model): void {
  if (origin !== undefined) throw definedIn({ subject: `Model ${id}`, file: origin.file });
  if (engineFile !== undefined && seededModels.some((seeded) => seeded === id))
    throw new Problem({
      code: "conflict",
      message: `Model ${id} is declared by the engine section of ${engineFile}, which adds it at each start. Remove that section and restart, or deprecate and retire the model instead.`,
      command: `model deprecate ${id} --retires DATE --replacement ID`,
    });
}

/** Where sums lack calls, what was called is in the receipts. */
async function isCalled(dependencies: NameDependencies, id: string): Promise<boolean> {
  const { is_complete: isComplete } = await closeSums(dependencies);
  return dependencies.catalog.hasCalls(id, isComplete);
}
