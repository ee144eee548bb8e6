import { Problem } from "../../base/problem.ts";
import type { TroubleView } from "../../platform/providers/views.ts";

/** What is wrong, and what to do, in one line. */
export function newTrouble({ what, advice }: TroubleView): string {
  return `${what} ${advice}`.trim();
}

const fieldFlags: Readonly<Record<string, string>> = {
  base_url: "--base-url",
  api_key: "its key",
  allow_private: "--allow-private",
};

/** What is wrong with the entry of a new provider: by its flag, for there is no line of it yet. */
export function byFlags(error: unknown, provider: string): unknown {
  if (!(error instanceof Problem) || error.code !== "invalid") return error;
  const start = `providers.${provider}.`;
  const lines = error.message.split("\n").map((line) => {
    const at = line.indexOf(start);
    if (at === -1 || !/line \d+: $/.test(line.slice(0, at))) return line;
    const [field = "", ...rest] = line.slice(at + start.length).split(" ");
    const words = rest.join(" ").replace("add allow_private: true", "add --allow-private");
    return `${fieldFlags[field] ?? `--option ${field}`} ${words}`;
  });
  return error.reworded(lines.join("\n"));
}
