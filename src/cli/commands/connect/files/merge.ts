import { inFile, Problem } from "../../../../base/problem.ts";
import type { FileFormat, FileSettings } from "../tool.ts";
import { type Assignment, applied, planAssignments, valueAt } from "./assignments.ts";
import { assignJson, parseJson, renderJson } from "./json-file.ts";
import { assignToml, parseToml, renderToml } from "./toml-file.ts";
import { assignYaml, parseYaml, renderYaml } from "./yaml-file.ts";

interface Format {
  readonly parse: (text: string) => unknown;
  readonly render: (value: unknown) => string;
  readonly assign: (text: string, assignments: readonly Assignment[]) => string;
}

const formats: Readonly<Record<FileFormat, Format>> = {
  json: { parse: parseJson, render: renderJson, assign: assignJson },
  toml: { parse: parseToml, render: renderToml, assign: assignToml },
  yaml: { parse: parseYaml, render: renderYaml, assign: assignYaml },
};

/** The settings alone, as a new file has them. */
export function renderSettings(format: FileFormat, settings: FileSettings): string {
  return formats[format].render(applied(undefined, planAssignments(undefined, settings)));
}

export interface Merged {
  readonly text: string;
  /** Settings of the file that conflict with ours. */
  readonly rivals: readonly string[];
}

/** The text of a file with the settings in it, and with all else that it had. */
export function mergeSettings(options: {
  readonly format: FileFormat;
  readonly settings: FileSettings;
  readonly text: string;
  /** For messages. */
  readonly path: string;
}): Merged {
  const { format, settings, text, path } = options;
  const { parse, assign } = formats[format];
  try {
    const present = parse(text) ?? undefined;
    const assignments = planAssignments(present, settings);
    const merged = assignments.length === 0 ? text : assign(text, assignments);
    if (!isSame(() => parse(merged), applied(present, assignments))) throw notEdited();
    const rivals = (settings.rivals ?? []).filter((rival) => valueAt(present, rival) !== undefined);
    return { text: merged, rivals: rivals.map((rival) => rival.join(".")) };
  } catch (error) {
    throw inFile(path, error);
  }
}

/** An edit that cannot be read is no fault of the file that was there. */
function isSame(read: () => unknown, expected: unknown): boolean {
  try {
    return Bun.deepEquals(read(), expected, true);
  } catch {
    return false;
  }
}

/** What was written is read again before it replaces anything. */
const notEdited = () =>
  new Problem({
    code: "invalid",
    message:
      "This file cannot be edited safely. Nothing was changed; add the settings without --write.",
  });
