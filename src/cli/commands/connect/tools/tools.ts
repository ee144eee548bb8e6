import { Problem } from "../../../../base/problem.ts";
import { didYouMean } from "../../../../config/suggestion.ts";
import type { Tool } from "../tool.ts";
import { agents } from "./agents.ts";
import { apps } from "./apps.ts";
import { libraries } from "./code.ts";

export const tools: readonly Tool[] = [...agents, ...apps, ...libraries];

/** Tools that people ask for and that cannot be connected, with the reason. */
const impossible: Readonly<Record<string, string>> = {
  "gemini-cli": "Gemini CLI calls only Google's own API, which the gateway does not offer.",
};

export function findTool(name: string): Tool {
  const tool = tools.find((one) => one.name === name);
  if (tool !== undefined) return tool;
  const reason = Object.hasOwn(impossible, name) ? impossible[name] : undefined;
  if (reason !== undefined)
    throw new Problem({ code: "not_found", message: reason, command: "connect" });
  const names = tools.map((one) => one.name);
  const begun = names.find((known) => name.length >= 3 && known.startsWith(name));
  const hint = begun === undefined ? didYouMean(name, names) : ` Did you mean "${begun}"?`;
  throw new Problem({
    code: "not_found",
    message: `Unknown tool "${name}".${hint}`,
    command: "connect",
  });
}
