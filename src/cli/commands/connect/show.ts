import { shellWord } from "../../../base/text/curl.ts";
import type { Dialect } from "../../../call/dialect.ts";
import { wrap } from "../../help.ts";
import { style } from "../../terminal/output.ts";
import { asTyped } from "../../terminal/own-command.ts";
import { renderSettings } from "./files/merge.ts";
import {
  type Connection,
  keyVariable,
  type Target,
  type Tool,
  type VariableValue,
} from "./tool.ts";

export const apiNames: Readonly<Record<Dialect, string>> = {
  chat: "Chat Completions",
  responses: "Responses",
  messages: "Messages",
  completions: "Completions",
};

/** Everything that connects a tool, for people to read and copy. */
export function connectionLines(options: {
  readonly tool: Tool;
  readonly target: Target;
  readonly connection: Connection;
  /** Of the file, as people write it. */
  readonly path: string | undefined;
  readonly isWritten: boolean;
  /** A new key, shown this once. */
  readonly key: string | undefined;
}): readonly string[] {
  const { tool, target, connection, path, isWritten, key } = options;
  const { file, environment = {}, samples = [], steps } = connection;
  const variables = Object.entries(environment);
  return [
    ...(isWritten
      ? []
      : [
          `${tool.title} calls the ${apiNames[tool.dialect]} API of ${target.rootUrl}, model ${target.model}.`,
          "",
        ]),
    ...(file === undefined || isWritten
      ? []
      : [style.bold(path ?? ""), ...renderSettings(file.format, file).trimEnd().split("\n"), ""]),
    ...(key === undefined
      ? []
      : [
          "This key is shown only once. Save it now.",
          "",
          `export ${keyVariable}=${shellWord(key)}`,
          "",
        ]),
    ...(variables.length === 0
      ? []
      : [...variables.map(([name, value]) => `export ${name}=${toWord(value)}`), ""]),
    ...samples.flatMap(({ title, text }) => [style.bold(title), ...text.split("\n"), ""]),
    ...steps
      // The key is in the line above.
      .filter((step) => key === undefined || !step.startsWith(`Set ${keyVariable} to an API key`))
      .flatMap((step, at) =>
        wrap(`${at + 1}. ${asTyped(step)}`.split(" "), { indent: 3, start: 0 }),
      ),
    ...(file === undefined || isWritten
      ? []
      : [
          "",
          asTyped(style.dim(`svc connect ${tool.name} --write adds the settings to the file.`)),
        ]),
  ];
}

const toWord = (value: VariableValue) =>
  typeof value === "string" ? shellWord(value) : `"$${value.variable}"`;
