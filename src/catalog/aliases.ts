import { Problem } from "../base/problem.ts";
import type { Model } from "./model.ts";

/** What ids and aliases consist of. */
export const modelIdPattern = /^[A-Za-z0-9][\w.:/@-]{0,127}$/;
export const modelIdCharacters = "letters, digits and . _ : / @ -";

/** So that the list of models stays readable. */
export const mostAliases = 20;

type Named = Pick<Model, "id" | "aliases">;

/** The model that a name stands for, if it is taken. */
export function ownerOf<Of extends Named>(models: readonly Of[], name: string): Of | undefined {
  return models.find(({ id, aliases }) => id === name || aliases?.includes(name) === true);
}

/** Throws where an id or an alias would stand for two models. */
export function checkNames(models: readonly Named[]): void {
  const owners = new Map(models.map(({ id }) => [id, id]));
  for (const { id, aliases = [] } of models)
    for (const alias of aliases) {
      const owner = owners.get(alias);
      if (owner !== undefined) throw nameTaken({ model: id, alias, owner });
      owners.set(alias, id);
    }
}

function nameTaken(options: {
  readonly model: string;
  readonly alias: string;
  readonly owner: string;
}): Problem {
  const { model, alias, owner } = options;
  const use =
    owner === model
      ? `already a name of ${model}`
      : owner === alias
        ? "the id of another model"
        : `already an alias of ${owner}`;
  return new Problem({
    code: "conflict",
    message: `"${alias}" cannot be an alias of ${model}: it is ${use}.`,
    field: "aliases",
  });
}
