/** The command line of the fuzzers. */
import { parseArgs } from "node:util";

export interface Options {
  readonly cases: number;
  readonly schemathesisCases: number;
  readonly seed: number;
  /** Replays this case alone. */
  readonly caseNumber: number | undefined;
  readonly only: "ours" | "schemathesis" | undefined;
  readonly json: boolean;
}

const defaultCases = 100_000;
const defaultSchemathesisCases = 10_000;
const defaultSeed = 1;

export const help = `npm run test:fuzz -- [options]

Sends broken, odd and good requests to a gateway of its own in front of a fake upstream, over
127.0.0.1 only: first our cases, then those that schemathesis makes from docs/openapi.json.
schemathesis needs python3 of at least 3.10 with venv, and PyPI by pip's own configuration; it is
installed into .fuzz/ of the project. Cases that fail are written to .fuzz/failures/.

  --cases N                 our cases (${defaultCases})
  --schemathesis-cases N    cases that schemathesis must have run at least (${defaultSchemathesisCases})
  --seed S                  the same seed makes the same cases (${defaultSeed})
  --case N                  runs case N of that seed alone, and shows it
  --only ours               without schemathesis
  --only schemathesis       without our cases
  --json                    the result as JSON on stdout
  --help                    this
`;

/** Undefined when help was asked for. Throws with a sentence for a person when it makes no sense. */
export function fromCommandLine(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      cases: { type: "string" },
      "schemathesis-cases": { type: "string" },
      seed: { type: "string" },
      case: { type: "string" },
      only: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return undefined;
  const { only } = values;
  if (only !== undefined && only !== "ours" && only !== "schemathesis")
    throw new Error("--only is ours or schemathesis");
  const caseNumber = read("case", values.case, undefined);
  return {
    cases: read("cases", values.cases, defaultCases),
    schemathesisCases: read(
      "schemathesis-cases",
      values["schemathesis-cases"],
      defaultSchemathesisCases,
    ),
    seed: read("seed", values.seed, defaultSeed),
    caseNumber,
    only: caseNumber === undefined ? only : "ours",
    json: values.json === true,
  };
}

function read<T extends number | undefined>(
  name: string,
  text: string | undefined,
  fallback: T,
): number | T {
  if (text === undefined) return fallback;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--${name} is a whole number of at most nine digits`);
}
