/** What the command line of the bench of the databases says. */
import { parseArgs } from "node:util";

export const parts = ["gateways", "wire", "drivers"] as const;
export type Part = (typeof parts)[number];

export type Options = {
  readonly parts: readonly Part[];
  readonly rounds: number;
  readonly requests: number;
  readonly singles: number;
  readonly connections: number;
  readonly accounts: number;
  readonly driverRounds: number;
  readonly isQuick: boolean;
  readonly json: boolean;
};

export const help = `bun bench/database/run.ts [OPTIONS]

Compares the gateway on SQLite, svc gateway on PostgreSQL and svc serve --workers 1, 2 and 4 on
PostgreSQL, then counts what they send to the database, then compares two drivers for PostgreSQL.
Every target has a PostgreSQL server of its own. See bench/README.md.

  --only PART    gateways, wire or drivers; several with commas
  --rounds N     measured rounds (5)
  --requests N   calls per target and phase (8000)
  --accounts N   accounts, each with one key without limits and one with (200)
  --quick        small counts: shows that it works, not how fast
  --json         every round
  --help         this text
`;

const full = {
  rounds: 5,
  requests: 8_000,
  singles: 400,
  connections: 64,
  accounts: 200,
  driverRounds: 5,
};
const quick: typeof full = { ...full, rounds: 1, requests: 1_000, singles: 50, driverRounds: 2 };

/** Undefined where help is wanted. */
export function fromCommandLine(words: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: { type: "string" },
      rounds: { type: "string" },
      requests: { type: "string" },
      accounts: { type: "string" },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const usual = values.quick ? quick : full;
  return {
    ...usual,
    parts: partsFrom(values.only),
    rounds: numberFrom(values.rounds, { usual: usual.rounds, most: 50 }),
    requests: numberFrom(values.requests, { usual: usual.requests, most: 1_000_000 }),
    accounts: numberFrom(values.accounts, { usual: usual.accounts, most: 10_000 }),
    isQuick: values.quick,
    json: values.json,
  };
}

function partsFrom(text: string | undefined): readonly Part[] {
  if (text === undefined) return parts;
  const names = text.split(",");
  const unknown = names.find((name) => !parts.some((part) => part === name));
  if (unknown !== undefined)
    throw new Error(`unknown part "${unknown}"; --only takes ${parts.join(", ")}`);
  return parts.filter((part) => names.includes(part));
}

function numberFrom(
  text: string | undefined,
  { usual, most }: { readonly usual: number; readonly most: number },
): number {
  if (text === undefined) return usual;
  const value = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new Error(`"${text}" is not a number from 1 to ${most}`);
}
