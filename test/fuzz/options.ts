/** The command line of the fuzzers. */
import { parseArgs } from "node:util";

export interface Options {
  readonly cases: number;
  readonly schemathesisCases: number;
  /** Of audio files. */
  readonly mutants: number;
  readonly seed: number;
  /** Replays this case alone. */
  readonly caseNumber: number | undefined;
  /** Measures this case of the stalls alone. */
  readonly stallCase: string | undefined;
  /** The longest stall that is allowed. */
  readonly boundMs: number;
  /** How often a case above the bound is measured at most. */
  readonly repeats: number;
  readonly only: Campaign | undefined;
  readonly json: boolean;
}

const campaigns = ["ours", "schemathesis", "audio", "stalls", "strays"] as const;
type Campaign = (typeof campaigns)[number];

const defaultCases = 100_000;
const defaultSchemathesisCases = 10_000;
const defaultMutants = 12_000;
const defaultSeed = 1;
const defaultBoundMs = 50;
const defaultRepeats = 3;

export const help = `npm run test:fuzz -- [options]

Sends broken, odd and good requests to a gateway of its own in front of a fake upstream, over
127.0.0.1 only: first our cases, then those that schemathesis makes from docs/openapi.json, then
audio, then the stalls: worst cases that fit the limits, while a thread of its own measures how long
/healthz of the gateway and of the platform goes without an answer; then an upstream that sends
replies twice. Of the runs of a stall, the best counts, without the usual round trip and without
waiting for a processor (on Linux). Run the stalls on a machine that does nothing else: they take
about ten minutes.
Audio: files of many encoders, files that hold another one, M4A files with several frames in a
packet, and mutants of all these are measured as an upload is; what is accepted is played by ffmpeg,
PyAV and libsndfile, and none may play it for longer than 1.05 times the seconds that are billed, and
a quarter of a second.
Both need python3 of at least 3.10 with venv, and PyPI by pip's own configuration; they are
installed into .fuzz/ of the project. Cases that fail are written to .fuzz/failures/.

  --cases N                 our cases (${defaultCases})
  --schemathesis-cases N    cases that schemathesis must have run at least (${defaultSchemathesisCases})
  --mutants N               mutants of audio files (${defaultMutants})
  --seed S                  the same seed makes the same cases (${defaultSeed})
  --case N                  runs case N of that seed alone, and shows it
  --case NAME               measures this case of the stalls alone
  --bound MS                the longest stall that is allowed (${defaultBoundMs})
  --repeats N               runs of a stall case above the bound, at most (${defaultRepeats})
  --only ours               our cases alone
  --only schemathesis       schemathesis alone
  --only audio              audio alone
  --only stalls             the stalls alone
  --only strays             second replies of an upstream alone
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
      mutants: { type: "string" },
      seed: { type: "string" },
      case: { type: "string" },
      bound: { type: "string" },
      repeats: { type: "string" },
      only: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return undefined;
  const only = campaigns.find((one) => one === values.only);
  if (values.only !== undefined && only === undefined)
    throw new Error(`--only must be one of ${campaigns.join(", ")}`);
  const repeats = read("repeats", values.repeats, defaultRepeats);
  if (repeats === 0) throw new Error("--repeats must be at least 1");
  // Our cases have numbers, those of the stalls have names.
  const isNamed = values.case !== undefined && (only === "stalls" || !/^\d+$/.test(values.case));
  const caseNumber = read("case", isNamed ? undefined : values.case, undefined);
  return {
    cases: read("cases", values.cases, defaultCases),
    schemathesisCases: read(
      "schemathesis-cases",
      values["schemathesis-cases"],
      defaultSchemathesisCases,
    ),
    mutants: read("mutants", values.mutants, defaultMutants),
    seed: read("seed", values.seed, defaultSeed),
    caseNumber,
    stallCase: isNamed ? values.case : undefined,
    boundMs: read("bound", values.bound, defaultBoundMs),
    repeats,
    only: isNamed ? "stalls" : caseNumber === undefined ? only : "ours",
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
