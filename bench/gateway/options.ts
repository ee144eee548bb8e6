/** The command line of the bench. */
import { parseArgs } from "node:util";

export type Options = Readonly<Record<CountName, number>> & {
  readonly only: "bare" | "gateway" | undefined;
  readonly json: boolean;
  /** Also a gateway on a disk that is slow to sync. */
  readonly slowSync: boolean;
};

/** Every count is bounded, and so is the bench. */
const counts = {
  rounds: { full: 5, quick: 2, max: 50, about: "measured rounds, after one warm-up round" },
  connections: { full: 64, quick: 64, max: 1000, about: "keep-alive connections" },
  requests: {
    full: 40_000,
    quick: 8_000,
    max: 1_000_000,
    about: "chat requests per round over them",
  },
  singles: {
    full: 4_000,
    quick: 500,
    max: 100_000,
    about: "chat requests per round over one connection",
  },
  streams: { full: 100, quick: 100, max: 2000, about: "concurrent streams" },
  chunks: { full: 200, quick: 50, max: 2000, about: "chunks per stream, one every 10 ms" },
  firsts: {
    full: 300,
    quick: 50,
    max: 10_000,
    about: "streams per round for the time to first content",
  },
  accounts: { full: 5_000, quick: 50, max: 20_000, about: "accounts that the keys belong to" },
  keys: { full: 10_000, quick: 100, max: 20_000, about: "keys that the requests use in turn" },
} as const;
type CountName = keyof typeof counts;
const countNames = Object.keys(counts) as CountName[];

export const help = `bun bench/run.ts [options]

Compares the gateway with a bare Bun proxy, with nginx where it is installed, and with itself
without money and limits, on this machine, over 127.0.0.1 only. See bench/README.md.

${[
  ["--quick", "small counts, under a minute: shows that it works, not how fast"],
  ["--only bare", "without the gateway"],
  ["--only gateway", "without the bare proxy and nginx"],
  ["--slow-sync", "also a gateway whose disk takes 3 ms longer to sync"],
  ["--json", "results as JSON, with the figures of every round"],
  ...countNames.map((name) => [`--${name} N`, `${counts[name].about} (${counts[name].full})`]),
  ["--help", "show this help"],
]
  .map(([option = "", about = ""]) => `  ${option.padEnd(18)}${about}`)
  .join("\n")}
`;

/** Undefined when help was asked for. Throws with a sentence for a person when it makes no sense. */
export function fromCommandLine(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
      only: { type: "string" },
      "slow-sync": { type: "boolean" },
      ...(Object.fromEntries(countNames.map((name) => [name, { type: "string" }])) as Record<
        CountName,
        { type: "string" }
      >),
    },
  });
  if (values.help === true) return undefined;
  const { only } = values;
  if (only !== undefined && only !== "bare" && only !== "gateway") {
    throw new Error("--only is bare or gateway");
  }
  const slowSync = values["slow-sync"] === true;
  if (only === "bare" && slowSync)
    throw new Error("--slow-sync is about the gateway, which --only bare leaves out");
  const size = values.quick === true ? "quick" : "full";
  const read = (name: CountName): number => {
    const text = values[name];
    return text === undefined ? counts[name][size] : count(name, text);
  };
  return {
    ...(Object.fromEntries(countNames.map((name) => [name, read(name)])) as Record<
      CountName,
      number
    >),
    only,
    json: values.json === true,
    slowSync,
  };
}

function count(name: CountName, text: string): number {
  const { max } = counts[name];
  const value = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw new Error(`--${name} is a number from 1 to ${max}`);
}
