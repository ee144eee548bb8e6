import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { invalid } from "../../../base/problem.ts";
import { type Command, type Invocation, jsonFlag } from "../../command.ts";
import { print, printHint, printJson, printTable, style } from "../../terminal/output.ts";
import { renderSettings } from "./files/merge.ts";
import { apiNames, connectionLines } from "./show.ts";
import { findPlaces, findTarget, shownPath } from "./target.ts";
import { type Connection, keyVariable, type Places, type Target, type Tool } from "./tool.ts";
import { findTool, tools } from "./tools/tools.ts";
import { createKey, type Written, writeSettings } from "./write.ts";

export const connectCommand: Command = {
  name: "connect",
  about:
    "Show the settings that connect a tool to this gateway. With --write: add them to the tool's file. Without TOOL: list the tools.",
  optional: ["TOOL"],
  choices: tools.map(({ name }) => name),
  flags: {
    model: { about: "model to call (default: the first chat model)", value: "ID" },
    url: { about: "address of another gateway; requires --model", value: "URL" },
    write: { about: "add the settings to the tool's file, after a confirmation" },
    yes: { about: "write without a confirmation" },
    file: { about: "write to this file instead of the usual one", value: "FILE" },
    key: { about: `write the key in ${keyVariable} into the file, not just the variable's name` },
    "create-key": { about: "create an API key for --account" },
    account: { about: "id or name of the account that pays, for --create-key", value: "ID" },
    ...jsonFlag,
  },
  examples: [
    "svc connect",
    "svc connect claude-code",
    "svc connect codex --model svc-3-flash --write",
    "svc connect opencode --write --create-key --account default",
    "svc connect openai-sdk --url https://models.example --model svc-3-flash",
  ],
  run(invocation) {
    const [name] = invocation.positionals;
    return name === undefined ? listTools(invocation) : connect(findTool(name), invocation);
  },
};

async function listTools({ switches }: Invocation): Promise<void> {
  if (switches.has("json"))
    return printJson(tools.map(({ name, title, dialect }) => ({ name, title, dialect })));
  printTable(
    ["tool", "name", "API"],
    tools.map(({ name, title, dialect }) => [name, title, apiNames[dialect]]),
  );
  printHint(style.dim("svc connect TOOL shows the settings of a tool."));
}

async function connect(tool: Tool, invocation: Invocation): Promise<void> {
  const { switches, wiring } = invocation;
  checkFlags(tool, invocation);
  const places = findPlaces(wiring);
  const target = await findTarget(invocation);
  const connection = tool.connect(target, places);
  if (switches.has("write")) {
    const written = await writeSettings({ tool, target, places, invocation });
    return show({ tool, target, places, connection: written.connection, written, invocation });
  }
  const created = switches.has("create-key") ? await createKey(tool, invocation) : undefined;
  show({ tool, target, places, connection, key: created?.key, invocation });
}

function checkFlags(tool: Tool, { flags, switches, wiring }: Invocation): void {
  const isWriting = switches.has("write");
  const { title, holdsKey } = tool;
  for (const name of ["yes", "key"])
    if (switches.has(name) && !isWriting) throw invalid({ [name]: `${name} requires --write.` });
  if (flags.file !== undefined && !isWriting) throw invalid({ file: "file requires --write." });
  if (switches.has("key") && switches.has("create-key"))
    throw invalid({ key: "key cannot be combined with --create-key." });
  if (switches.has("key") && !holdsKey)
    throw invalid({ key: `key is not possible: ${title} does not take the key from a file.` });
  if (switches.has("key") && wiring.configuration().settings.apiKey === undefined)
    throw invalid({ key: `key requires ${keyVariable} to be set to an API key.` });
  if (switches.has("create-key") && flags.account === undefined)
    throw invalid({ account: "account is required with --create-key." });
  if (flags.account !== undefined && !switches.has("create-key"))
    throw invalid({ account: "account requires --create-key." });
  if (switches.has("create-key") && flags.url !== undefined)
    throw invalid({ url: "url cannot be combined with --create-key: keys are created here." });
}

interface Shown {
  readonly tool: Tool;
  readonly target: Target;
  readonly places: Places;
  readonly connection: Connection;
  readonly written?: Written;
  /** One that was just created, and that no file holds. */
  readonly key?: string | undefined;
  readonly invocation: Invocation;
}

function show(shown: Shown): void {
  const { tool, target, places, connection, written, invocation } = shown;
  const key = shown.key ?? written?.key;
  const { file } = connection;
  const path = file && (file.paths.find(existsSync) ?? file.paths[0]);
  if (invocation.switches.has("json"))
    return printJson({
      tool: tool.name,
      dialect: tool.dialect,
      base_url: target.baseUrl,
      model: target.model,
      file: file && {
        path: resolve(written?.path ?? path ?? ""),
        format: file.format,
        // Not again where it is written: it may hold the key.
        ...(written === undefined ? { text: renderSettings(file.format, file) } : {}),
      },
      environment: connection.environment,
      samples: connection.samples,
      steps: connection.steps,
      ...(key === undefined ? {} : { key }),
      ...(written && { written: { changed: written.isChanged, backup: written.backup ?? null } }),
    });
  const lines = connectionLines({
    tool,
    target,
    connection,
    path: path === undefined ? undefined : shownPath(path, places),
    isWritten: written !== undefined,
    key,
  });
  for (const line of lines) print(line);
}
