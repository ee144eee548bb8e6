/** The command line of `npm run bench:peers`. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** In the order of the tables. */
export const contenderNames = [
  "svc",
  "bare",
  "nginx",
  "aisix",
  "gomodel",
  "bifrost",
  "litellm",
  "portkey",
] as const;
export type ContenderName = (typeof contenderNames)[number];

/** Programs that are not packages: given by their path, or left out. */
export const binaryNames = ["aisix", "gomodel", "bifrost"] as const;
export type BinaryName = (typeof binaryNames)[number];

export type Options = {
  readonly isQuick: boolean;
  readonly rounds: number;
  readonly names: readonly ContenderName[];
  readonly paths: Readonly<Partial<Record<BinaryName, string>>>;
  readonly accounts: number;
  readonly keys: number;
  readonly json: boolean;
  readonly write: boolean;
};

export const help = `bun bench/peers/run.ts [options]

Compares the gateway with a bare Bun proxy, nginx and other gateways, on this machine, over
127.0.0.1 only. Installs LiteLLM and Portkey in a cache folder. See docs/benchmarks.md.

  --aisix PATH      the program of aisix; peers without a path are left out
  --gomodel PATH    the program of GoModel
  --bifrost PATH    the program of Bifrost
  --only NAMES      only these, separated by commas: ${contenderNames.join(", ")}
  --without NAMES   all but these
  --quick           short workloads, two rounds: shows that it works, not how fast
  --rounds N        measured rounds, after one warm-up round (5)
  --json            results as JSON
  --write           writes docs/benchmarks.md and its charts
  --help            show this help
`;

/** Undefined when help was asked for. Throws with a sentence for a person when it makes no sense. */
export function fromCommandLine(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      aisix: { type: "string" },
      gomodel: { type: "string" },
      bifrost: { type: "string" },
      only: { type: "string" },
      without: { type: "string" },
      quick: { type: "boolean" },
      rounds: { type: "string" },
      json: { type: "boolean" },
      write: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return undefined;
  const isQuick = values.quick === true;
  const paths: Partial<Record<BinaryName, string>> = {};
  for (const name of binaryNames) {
    const path = values[name];
    if (path === undefined) continue;
    if (!existsSync(path)) throw new Error(`--${name}: ${path} does not exist.`);
    paths[name] = resolve(path);
  }
  const only = namesIn("only", values.only) ?? contenderNames;
  const without = namesIn("without", values.without) ?? [];
  const missing = binaryNames.filter((name) => paths[name] === undefined);
  const asked = values.only === undefined ? [] : missing.filter((name) => only.includes(name));
  if (asked[0] !== undefined) throw new Error(`--only ${asked[0]} needs --${asked[0]} PATH.`);
  const left: readonly ContenderName[] = [...without, ...missing];
  return {
    isQuick,
    rounds: roundsIn(values.rounds, isQuick ? 2 : 5),
    names: contenderNames.filter((name) => only.includes(name) && !left.includes(name)),
    paths,
    accounts: isQuick ? 50 : 5_000,
    keys: isQuick ? 100 : 10_000,
    json: values.json === true,
    write: values.write === true,
  };
}

function namesIn(option: string, text: string | undefined): readonly ContenderName[] | undefined {
  return text?.split(",").map((word) => {
    const name = contenderNames.find((one) => one === word.trim());
    if (name === undefined)
      throw new Error(`--${option}: "${word}" is not one of ${contenderNames.join(", ")}.`);
    return name;
  });
}

function roundsIn(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 50) return value;
  throw new Error("--rounds must be a number from 1 to 50.");
}
