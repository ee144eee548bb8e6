import { callCommands } from "./call/commands.ts";
import { type Command, jsonFlag } from "./command.ts";
import { accountCommands } from "./commands/account.ts";
import { engineCommands } from "./commands/engine.ts";
import { importCommands } from "./commands/import.ts";
import { keyCommands } from "./commands/key.ts";
import { manifestCommands } from "./commands/manifest.ts";
import { modelCommands } from "./commands/model.ts";
import { operatorCommands } from "./commands/operator.ts";
import { priceCommands } from "./commands/price.ts";
import { providerCommands } from "./commands/provider/provider.ts";
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

const changelog: Command = {
  name: "changelog",
  about: "Shows the changes of the API: what is new, what is deprecated and until when it works.",
  flags: jsonFlag,
  examples: ["svc changelog", "svc changelog --json"],
  async run({ switches }) {
    // Loaded here: its schema takes longer to compile than most commands take to run.
    const { readChanges, toChangesText } = await import("../wire/changes.ts");
    const changes = readChanges();
    if (switches.has("json")) printJson(changes);
    else process.stdout.write(toChangesText(changes));
  },
};

export const commands: readonly Command[] = [
  serve,
  initCommand,
  ...callCommands,
  config,
  ...manifestCommands,
  ...importCommands,
  ...accountCommands,
  ...keyCommands,
  ...operatorCommands,
  ...providerCommands,
  ...modelCommands,
  ...priceCommands,
  ...receiptCommands,
  ...reportCommands,
  changelog,
  ...engineCommands,
  engine,
];
