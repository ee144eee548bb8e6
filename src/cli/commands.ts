import { invalid } from "../base/problem.ts";
import { Wrong, workers } from "../config/setting-readers.ts";
import { callCommands } from "./call/commands.ts";
import { type Command, jsonFlag } from "./command.ts";
import { accountCommands } from "./commands/account.ts";
import { backupCommands } from "./commands/backup.ts";
import { connectCommand } from "./commands/connect/connect.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { engineCommands } from "./commands/engine.ts";
import { exportsCommands } from "./commands/exports.ts";
import { importCommands } from "./commands/import.ts";
import { keyCommands } from "./commands/key.ts";
import { logsCommand } from "./commands/logs/logs.ts";
import { manifestCommands } from "./commands/manifest.ts";
import { modelCommands } from "./commands/model/model.ts";
import { nodeCommands } from "./commands/nodes.ts";
import { operatorCommands } from "./commands/operator.ts";
import { priceCommands } from "./commands/price.ts";
import { providerCommands } from "./commands/provider/provider.ts";
import { receiptCommands } from "./commands/receipt.ts";
import { reportCommands } from "./commands/report.ts";
import { requestCommands } from "./commands/requests.ts";
import { responseCommands } from "./commands/responses.ts";
import { secretCommands } from "./commands/secret.ts";
import { storeCommands } from "./commands/store.ts";
import { completionCommand } from "./completion.ts";
import type { CommandGroup } from "./help.ts";
import { initCommand } from "./init/command.ts";
import { print, printJson, printTable, style } from "./terminal/output.ts";

const serve: Command = {
  name: "serve",
  about: "Run the gateway and the platform. Ctrl-C or SIGTERM stops them.",
  flags: {
    workers: {
      about:
        "gateway processes that share the port: a number, or auto for one per core (default: SVC_WORKERS); more than 1 needs PostgreSQL",
      value: "N",
      judgesSign: true,
    },
  },
  examples: [
    "svc serve",
    "svc serve --workers auto",
    "SVC_PORT=9000 svc serve",
    "SVC_HOST=0.0.0.0 SVC_PUBLIC_URL=https://models.example svc serve",
  ],
  refusedFlags: {
    port: "--port does not exist. Set SVC_PORT, for example: SVC_PORT=9000 svc serve",
    host: "--host does not exist. Set SVC_HOST, for example: SVC_HOST=0.0.0.0 svc serve",
  },
  run: ({ flags, wiring }) => wiring.serve(readWorkers(flags["workers"])),
};

function readWorkers(text: string | undefined): number | undefined {
  const count = text === undefined ? undefined : workers(text);
  if (!(count instanceof Wrong)) return count;
  throw invalid({ workers: `workers must be ${count.expected}.` });
}

const gateway: Command = {
  name: "gateway",
  about:
    "Run a gateway alone, for example on a machine of its own. Needs PostgreSQL. Ctrl-C or SIGTERM stops it.",
  examples: ["svc gateway", "SVC_NODE=eu-1 SVC_METRICS_PORT=9100 svc gateway"],
  run: ({ wiring }) => wiring.gateway(),
};

const platform: Command = {
  name: "platform",
  about:
    "Run the platform alone: the console and its API; gateways run elsewhere. Needs PostgreSQL. Ctrl-C or SIGTERM stops it.",
  examples: [
    "svc platform",
    "SVC_PUBLIC_URL=https://models.example SVC_PLATFORM_URL=https://console.example svc platform",
  ],
  run: ({ wiring }) => wiring.platform(),
};

const engine: Command = {
  name: "engine",
  about: "Run the engine for the embedded models manually. svc serve starts it automatically.",
  examples: ["svc engine"],
  run: ({ wiring }) => wiring.engine(),
};

const config: Command = {
  name: "config",
  about: "Show the active settings and where each value comes from.",
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
      ["setting", "value", "source", "description"],
      inForce.map(({ name, value, source, about }) => [name, value, source, about]),
    );
  },
};

const changelog: Command = {
  name: "changelog",
  about: "Show API changes: new features, deprecations and removal dates.",
  flags: jsonFlag,
  examples: ["svc changelog", "svc changelog --json"],
  async run({ switches }) {
    // Loaded here because compiling its schema takes longer than most commands.
    const { readChanges, toChangesText } = await import("../wire/changes.ts");
    const changes = readChanges();
    if (switches.has("json")) printJson(changes);
    else process.stdout.write(toChangesText(changes));
  },
};

/** As svc --help shows them. */
export const commandGroups: readonly CommandGroup[] = [
  {
    title: "Run",
    commands: [
      serve,
      gateway,
      platform,
      ...nodeCommands,
      initCommand,
      config,
      doctorCommand,
      logsCommand,
      ...backupCommands,
      ...secretCommands,
      ...storeCommands,
    ],
  },
  { title: "Call models", commands: [...callCommands, connectCommand] },
  {
    title: "Accounts and keys",
    commands: [...accountCommands, ...responseCommands, ...keyCommands, ...operatorCommands],
  },
  {
    title: "Providers and models",
    commands: [...providerCommands, ...modelCommands, ...manifestCommands, ...importCommands],
  },
  {
    title: "Prices and receipts",
    commands: [
      ...priceCommands,
      ...requestCommands,
      ...receiptCommands,
      ...exportsCommands,
      ...reportCommands,
    ],
  },
  { title: "Embedded models", commands: [...engineCommands, engine] },
  { title: "Other", commands: [changelog, completionCommand(() => commands)] },
];

export const commands: readonly Command[] = commandGroups.flatMap((group) => group.commands);
