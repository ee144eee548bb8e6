import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { inFile, Problem } from "../base/problem.ts";
import { checkSettings } from "../config/load.ts";
import type { Difference } from "../manifest/plan.ts";
import type { ApplyView } from "../platform/manifest/operations.ts";
import type { ModelView } from "../platform/models/views.ts";
import { readChanges, toChangesText } from "../wire/changes.ts";
import { callCommands } from "./call/commands.ts";
import { type Command, jsonFlag } from "./command.ts";
import { accountCommands } from "./commands/account.ts";
import { engineCommands } from "./commands/engine.ts";
import { importCommands } from "./commands/import.ts";
import { keyCommands } from "./commands/key.ts";
import { operatorCommands } from "./commands/operator.ts";
import { priceCommands } from "./commands/price.ts";
import { providerCommands } from "./commands/provider.ts";
import { receiptCommands } from "./commands/receipt.ts";
import { reportCommands } from "./commands/report.ts";
import { initCommand } from "./init/command.ts";
import { print, printJson, printTable, style } from "./terminal/output.ts";

const serve: Command = {
  name: "serve",
  about: "Runs the gateway and the platform until it is stopped (ctrl-c, SIGTERM).",
  examples: [
    "svc serve",
    "SVC_PORT=9000 svc serve",
    "SVC_HOST=0.0.0.0 SVC_PUBLIC_URL=https://models.example svc serve",
  ],
  run: ({ wiring }) => wiring.serve(),
};

const engine: Command = {
  name: "engine",
  about:
    "Runs the process of the embedded models, as svc serve does by itself. See also: svc engine pull | status | remove.",
  examples: ["svc engine"],
  run: ({ wiring }) => wiring.engine(),
};

const config: Command = {
  name: "config",
  about: "Shows the settings in force and where each value came from.",
  flags: jsonFlag,
  examples: ["svc config", "svc config --json"],
  async run({ switches, wiring }) {
    const { inForce, file } = wiring.configuration();
    if (switches.has("json"))
      return printJson({
        file: file?.path ?? null,
        settings: inForce.map(({ name, value, source }) => ({ name, value, source })),
      });
    print(`${style.dim("config file:")} ${file?.path ?? "none"}\n`);
    printTable(
      ["setting", "value", "from", "what it is"],
      inForce.map(({ name, value, source, about }) => [name, value, source, about]),
    );
  },
};

const apply: Command = {
  name: "apply",
  about: "Makes providers and models match a file. Shows the difference. Never removes a model.",
  positionals: ["FILE"],
  flags: { "dry-run": { about: "show what would change and change nothing" }, ...jsonFlag },
  examples: ["svc apply svc.yaml", "svc apply svc.yaml --dry-run", "svc apply - < svc.yaml"],
  async run({ positionals: [file = ""], switches, wiring }) {
    const dryRun = switches.has("dry-run");
    const text = readText(file);
    const isOwnFile = file !== "-" && wiring.configuration().file?.path === resolve(file);
    checkSettings({ path: file, text });
    const view = await wiring
      .withOperations((operations) => operations.manifest.apply({ text, dryRun, isOwnFile }))
      .catch((error: unknown) => {
        throw inFile(file === "-" ? "standard input" : file, error);
      });
    if (switches.has("json")) printJson(view);
    else printApply(view, dryRun);
  },
};

const exportCommand: Command = {
  name: "export",
  about:
    "Writes providers and models as YAML that svc apply reads. Settings and literal keys are not in it.",
  examples: ["svc export > catalogue.yaml", "svc export | svc apply - --dry-run"],
  async run({ wiring }) {
    const { yaml } = await wiring.withOperations((operations) => operations.manifest.export({}));
    process.stdout.write(yaml);
  },
};

const modelList: Command = {
  name: "model list",
  about: "Lists all models with state, price and routes.",
  flags: jsonFlag,
  examples: ["svc model list", "svc model list --json"],
  async run({ switches, wiring }) {
    const models = await wiring.withOperations((operations) => operations.models.list({}));
    if (switches.has("json")) return printJson(models);
    if (models.length === 0)
      return print(
        "No models yet. Declare some in svc.yaml (see README) and run: svc apply svc.yaml",
      );
    printTable(
      ["id", "endpoint", "state", "price (USD)", "routes"],
      models.map((model) => [
        model.id,
        model.endpoint,
        stateText(model),
        priceText(model),
        model.routes.join(", ") || null,
      ]),
    );
  },
};

const modelDeprecate: Command = {
  name: "model deprecate",
  about:
    "Marks a model deprecated: callers see when it retires and what replaces it. Once more moves the dates.",
  positionals: ["ID"],
  flags: {
    retires: {
      about: "when it retires: a day (midnight UTC) or a moment",
      value: "DATE",
      required: true,
    },
    replacement: {
      about: "the active model of the same endpoint to use instead",
      value: "ID",
      required: true,
    },
    from: { about: "from when it is deprecated; now unless told", value: "DATE" },
    ...jsonFlag,
  },
  examples: [
    "svc model deprecate svc-2-flash --retires 2027-01-31 --replacement svc-3-flash",
    "svc model deprecate svc-2-flash --from 2027-01-01 --retires 2027-06-30 --replacement svc-3-flash",
  ],
  async run({
    positionals: [id = ""],
    flags: { from, retires = "", replacement = "" },
    switches,
    wiring,
  }) {
    const model = await wiring.withOperations((operations) =>
      operations.models.deprecate({
        id,
        ...(from === undefined ? {} : { from }),
        retires,
        replacement,
      }),
    );
    if (switches.has("json")) return printJson(model);
    const when = model.status === "active" ? ` from ${model.deprecated_at}` : "";
    print(
      `${style.yellow("deprecated")} ${model.id}${when}: retires ${model.retires_at}, replaced by ${model.replacement}`,
    );
  },
};

const changelog: Command = {
  name: "changelog",
  about: "Shows the changes of the API: what is new, what is deprecated and until when it works.",
  flags: jsonFlag,
  examples: ["svc changelog", "svc changelog --json"],
  async run({ switches }) {
    const changes = readChanges();
    if (switches.has("json")) printJson(changes);
    else process.stdout.write(toChangesText(changes));
  },
};

const modelRetire: Command = {
  name: "model retire",
  about: "Retires a deprecated model now.",
  positionals: ["ID"],
  flags: jsonFlag,
  examples: ["svc model retire svc-2-flash"],
  async run({ positionals: [id = ""], switches, wiring }) {
    const model = await wiring.withOperations((operations) => operations.models.retire({ id }));
    if (switches.has("json")) return printJson(model);
    print(`${style.red("retired")} ${model.id}: callers are told to use ${model.replacement}`);
  },
};

export const commands: readonly Command[] = [
  serve,
  initCommand,
  ...callCommands,
  config,
  apply,
  exportCommand,
  ...importCommands,
  ...accountCommands,
  ...keyCommands,
  ...operatorCommands,
  ...providerCommands,
  modelList,
  modelDeprecate,
  modelRetire,
  ...priceCommands,
  ...receiptCommands,
  ...reportCommands,
  changelog,
  ...engineCommands,
  engine,
];

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (cause) {
    throw new Problem({
      code: "not_found",
      message: `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    });
  }
}

function stateText({ status, served, deprecated_at, retires_at }: ModelView): string {
  if (status === "deprecated") return `deprecated, retires ${retires_at?.slice(0, 10)}`;
  const from = deprecated_at === null ? "" : `, deprecated from ${deprecated_at.slice(0, 10)}`;
  return status === "active" ? `${served ? "active" : "active, not served"}${from}` : status;
}

function priceText({ price }: ModelView): string | null {
  return price === null
    ? null
    : Object.entries(price)
        .map(([key, usd]) => `${key} ${usd}`)
        .join(", ");
}

const marks: Readonly<Record<Difference["action"], string>> = {
  create: style.green("+"),
  change: style.yellow("~"),
  remove: style.red("-"),
  keep: style.dim("="),
};

export function printApply({ differences, warnings }: ApplyView, dryRun: boolean): void {
  for (const { action, kind, name, fields } of differences) {
    print(
      `${marks[action]} ${kind} ${name}${action === "keep" ? style.dim(" is not in the file and stays") : ""}`,
    );
    if (action === "change")
      for (const { field, from, to } of fields)
        print(
          `    ${field}: ${from ?? "none"} → ${from === to ? "another value" : (to ?? "none")}`,
        );
  }
  for (const warning of warnings) print(`${style.yellow("!")} ${warning}`);
  const changes = differences.filter(({ action }) => action !== "keep").length;
  if (changes === 0) return print("Nothing to change.");
  print(
    dryRun
      ? `${changes} to change; nothing was changed (--dry-run).`
      : `${style.green("applied")} ${changes} change${changes === 1 ? "" : "s"}.`,
  );
}
