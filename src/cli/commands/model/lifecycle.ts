import { defined } from "../../../base/defined.ts";
import { type Command, viewCommand } from "../../command.ts";
import { print, style } from "../../terminal/output.ts";

const modelDeprecate = viewCommand({
  name: "model deprecate",
  about:
    "Deprecate a model. Callers see its retirement date and replacement. Run it again to change the dates.",
  positionals: ["ID"],
  flags: {
    retires: {
      about: "retirement date (midnight UTC) or time",
      value: "DATE",
      required: true,
    },
    replacement: {
      about: "active model of the same endpoint that replaces it",
      value: "ID",
      required: true,
    },
    from: { about: "start of the deprecation (default: now)", value: "DATE" },
  },
  examples: [
    "svc model deprecate svc-2-flash --retires 2027-01-31 --replacement svc-3-flash",
    "svc model deprecate old --from 2027-01-01 --retires 2027-06-30 --replacement svc-3-flash",
  ],
  load: (operations, { positionals: [id = ""], flags: { from, retires = "", replacement = "" } }) =>
    operations.models.deprecate({ id, retires, replacement, ...defined({ from }) }),
  show(model) {
    const when = model.status === "active" ? ` from ${model.deprecated_at}` : "";
    print(
      `${style.yellow("deprecated")} ${model.id}${when}: retires ${model.retires_at}, replaced by ${model.replacement}`,
    );
  },
});

const modelRetire = viewCommand({
  name: "model retire",
  about: "Retire a deprecated model now.",
  positionals: ["ID"],
  examples: ["svc model retire svc-2-flash"],
  load: (operations, { positionals: [id = ""] }) => operations.models.retire({ id }),
  show(model) {
    print(`${style.red("retired")} ${model.id}, replaced by ${model.replacement}`);
  },
});

export const lifecycleCommands: readonly Command[] = [modelDeprecate, modelRetire];
