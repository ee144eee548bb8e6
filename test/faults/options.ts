/** The command line of the fault runs. */
import { parseArgs } from "node:util";

export interface Options {
  readonly rounds: number;
  readonly seed: number;
  readonly only: "kill" | "disk" | undefined;
  readonly json: boolean;
}

const defaultRounds = 200;
const defaultSeed = 1;

export const help = `npm run test:faults -- [options]

Kills the real gateway at each step of a request and at random moments, under load, and checks
every reply, receipt and sum after the next start; then gives it disks that fill up, refuse writes
and are slow. Over 127.0.0.1 only. What the machine lacks is told, and counts as not run.

  --rounds N     kills (${defaultRounds})
  --seed S       the same seed plans the same calls and kills (${defaultSeed})
  --only kill    without the disks
  --only disk    without the kills
  --json         the result as JSON on stdout
  --help         this
`;

/** Undefined when help was asked for. Throws with a sentence for a person when it makes no sense. */
export function fromCommandLine(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string" },
      seed: { type: "string" },
      only: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return undefined;
  const { only } = values;
  if (only !== undefined && only !== "kill" && only !== "disk")
    throw new Error("--only is kill or disk");
  return {
    rounds: read("rounds", values.rounds, defaultRounds),
    seed: read("seed", values.seed, defaultSeed),
    only,
    json: values.json === true,
  };
}

function read(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new Error(`--${name} is a whole number of at most six digits`);
}
