import { type Command, viewCommand } from "../../command.ts";
import { print, style } from "../../terminal/output.ts";
import { printSaved } from "./saved.ts";

const modelAlias = viewCommand({
  name: "model alias",
  about:
    "Add an alias to a model: a further id that callers can use. Replies repeat the alias, receipts name the model.",
  positionals: ["ID", "ALIAS"],
  examples: ["svc model alias svc-3-flash gpt-4o-mini"],
  load: (operations, { positionals: [id = "", alias = ""] }) =>
    operations.catalog.addAlias({ id, alias }),
  show: (model) => printSaved(model, "changed"),
});

const modelUnalias = viewCommand({
  name: "model unalias",
  about: "Remove an alias from a model. Calls that use it are rejected.",
  positionals: ["ID", "ALIAS"],
  examples: ["svc model unalias svc-3-flash gpt-4o-mini"],
  load: (operations, { positionals: [id = "", alias = ""] }) =>
    operations.catalog.removeAlias({ id, alias }),
  show: (model) => printSaved(model, "changed"),
});

const modelRename = viewCommand({
  name: "model rename",
  about:
    "Rename a model that was never called. Keys that are limited to it can use it under its new id.",
  positionals: ["ID", "NEW_ID"],
  flags: { "keep-alias": { about: "keep the old id as an alias" } },
  examples: ["svc model rename fast fast-1", "svc model rename fast fast-1 --keep-alias"],
  load: (operations, { positionals: [id = "", to = ""], switches }) =>
    operations.catalog.rename({ id, to, keepAlias: switches.has("keep-alias") }),
  show: (model) => printSaved(model, "renamed to"),
});

const modelRemove = viewCommand({
  name: "model remove",
  about:
    "Delete a model that was never called. A model with calls can be deprecated and retired instead.",
  positionals: ["ID"],
  examples: ["svc model remove fast"],
  load: (operations, { positionals: [id = ""] }) => operations.catalog.remove({ id }),
  show({ id, keys }) {
    print(`${style.green("removed")} ${id}`);
    if (keys.length === 0) return;
    const names = keys.map((key) => (key.name === "" ? key.id : key.name)).join(", ");
    print(`${style.yellow("!")} Keys that are still limited to it: ${names}`);
  },
});

export const nameCommands: readonly Command[] = [
  modelAlias,
  modelUnalias,
  modelRename,
  modelRemove,
];
