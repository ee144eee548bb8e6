import { Problem } from "../base/problem.ts";
import type { TroubleView } from "../platform/provider-operations.ts";

interface NewProvider {
  /** Whether the operator said where it is. */
  readonly hasAddress: boolean;
  readonly isLocal: boolean;
}

/** What is wrong with a provider that no file has yet, with advice that does not send people to one. */
export function newTrouble({ trouble, what, advice }: TroubleView, about: NewProvider): string {
  const { hasAddress, isLocal } = about;
  const isNetwork = trouble === "wrong_address" || trouble === "timeout";
  const kept = advice
    .split(/(?<=[.?]) (?=[A-Z$])/)
    .filter((sentence) => !/svc\.yaml|svc apply|\.env\b/.test(sentence))
    .filter((sentence) => hasAddress || !sentence.includes("base_url"))
    .map((sentence) => sentence.replace(/(?<!-)\bbase_url\b/g, "--base-url"));
  const more =
    isNetwork && !hasAddress
      ? isLocal
        ? "Start it; if it listens elsewhere, say where: svc provider add … --base-url URL."
        : "Is this machine online? If it reaches the internet through a proxy, set HTTPS_PROXY."
      : (flagAdvice[trouble] ?? "");
  return [what, ...kept, more].filter((part) => part !== "").join(" ");
}

const flagAdvice: Readonly<Record<string, string>> = {
  private_address: "If that is meant, connect it by svc provider add with --allow-private.",
  bad_key: "svc provider add takes a key by --key-env NAME or --key-stdin.",
};

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
  return new Problem(error.code, lines.join("\n"), error);
}
