import { fstatSync } from "node:fs";
import { resolve } from "node:path";
import { type LineLevel, logLevels, toReadable } from "../../../base/log.ts";
import { invalid, Problem } from "../../../base/problem.ts";
import { visible } from "../../../base/text/visible-text.ts";
import { wantsColour } from "../../../config/terminal.ts";
import { toPastMoment } from "../../../platform/input/values.ts";
import type { Operations } from "../../../platform/operations.ts";
import { type Command, type Invocation, jsonFlag } from "../../command.ts";
import { fileProblem } from "../../terminal/file-problem.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { print, printJsonLine } from "../../terminal/output.ts";
import { follow, readLimit, sinceWords } from "../follow.ts";
import { type LogLine, readLogLine, toLogLine } from "./log-line.ts";
import { readLines } from "./read-lines.ts";

const usualLimit = 200;
const mostLimit = 100_000;
const askEveryMs = 250;
const levels = logLevels.filter((level) => level !== "silent");

export const logsCommand: Command = {
  name: "logs",
  about:
    "Show the log of the running server: its latest 2,000 lines, or new ones with --follow. The server writes it to stderr and keeps no file; FILE, or - for standard input, is a log that was saved from there.",
  optional: ["FILE"],
  flags: {
    follow: { about: "print new lines as they come, until Ctrl-C", short: "f" },
    level: {
      about: `only lines of this level or above: ${levels.join(", ")}`,
      value: "L",
      choices: levels,
    },
    since: { about: `only lines since T: ${sinceWords}`, value: "T" },
    request: { about: "only lines about this request (x-request-id of the reply)", value: "ID" },
    slow: { about: "only slow requests; SVC_SLOW_REQUEST_MS sets what is slow" },
    limit: {
      about: `show at most the newest N lines (default: ${usualLimit}; of a file: all)`,
      value: "N",
    },
    ...jsonFlag,
  },
  examples: [
    "svc logs",
    "svc logs --follow --level warn",
    "svc logs --request req_0199f3 --json",
    "svc logs svc.log --since 24h --level error",
    "svc logs - --slow < svc.log",
  ],
  async run({ flags, switches, positionals: [given], wiring }) {
    const filter = readFilter(flags, switches);
    const isJson = switches.has("json");
    const path = given ?? (isInputFile() ? "-" : undefined);
    const limit = readLimit(flags["limit"], mostLimit);
    if (path === undefined) {
      const shown = { filter, isJson, limit: limit ?? usualLimit };
      if (switches.has("follow"))
        return interruptible((signal) =>
          wiring.withOperations((operations) => followLog({ ...shown, operations, signal })),
        );
      const { lines } = await wiring.withOperations((operations) => operations.logs.read({}));
      if (showLines(lines, shown) === 0 && !isJson) process.stderr.write("No lines match.\n");
      return;
    }
    if (switches.has("follow"))
      throw invalid({
        follow: "follow reads the running server, not a file. Use tail -F FILE | svc logs -",
      });
    await showFile(path, { filter, isJson, limit });
  },
};

/** `svc logs < FILE`. Not a pipe: whoever started the command may hold one open and never write. */
function isInputFile(): boolean {
  try {
    return fstatSync(0).isFile();
  } catch {
    return false;
  }
}

interface Filter {
  readonly least: LineLevel;
  readonly fromMs: number;
  readonly request: string | undefined;
  readonly isSlow: boolean;
}

function readFilter({ level, since, request }: Invocation["flags"], switches: ReadonlySet<string>) {
  const least = levels.find((one) => one === (level ?? "debug"));
  if (least === undefined)
    throw invalid({ level: `level must be one of: ${levels.join(", ")}, not "${level}".` });
  const fromMs =
    since === undefined
      ? Number.NEGATIVE_INFINITY
      : toPastMoment({ text: since, field: "since", nowMs: Date.now() });
  return { least, fromMs, request, isSlow: switches.has("slow") };
}

/** What is not a line of ours belongs to no request and has no level: it is shown only unfiltered. */
function isMatch(line: LogLine, { least, fromMs, request, isSlow }: Filter): boolean {
  const isOpen =
    least === "debug" && fromMs === Number.NEGATIVE_INFINITY && request === undefined && !isSlow;
  if (line.kind === "text") return isOpen && line.text !== "";
  return (
    levels.indexOf(line.level) >= levels.indexOf(least) &&
    line.atMs >= fromMs &&
    (request === undefined || line.fields["request_id"] === request) &&
    (!isSlow || line.fields["event"] === "slow_request")
  );
}

interface Shown {
  readonly filter: Filter;
  readonly isJson: boolean;
}

interface Live extends Shown {
  readonly operations: Operations;
  readonly limit: number;
}

/** Shows the latest lines, then new lines until the signal is aborted. */
function followLog(live: Live & { readonly signal: AbortSignal }): Promise<void> {
  const { operations, filter, isJson, signal, limit } = live;
  let isFirst = true;
  return follow({
    ask: (after) => operations.logs.read(after === undefined ? {} : { after }),
    show({ lines }) {
      showLines(lines, { filter, isJson, limit: isFirst ? limit : lines.length });
      isFirst = false;
    },
    what: "lines",
    everyMs: askEveryMs,
    signal,
  });
}

type Lines = readonly Readonly<Record<string, unknown>>[];

function showLines(lines: Lines, { filter, isJson, limit }: Shown & { readonly limit: number }) {
  const found = lines
    .map(toLogLine)
    .filter((line) => line !== undefined)
    .filter((line) => isMatch(line, filter));
  for (const line of found.slice(Math.max(0, found.length - limit))) printLine(line, isJson);
  return found.length;
}

async function showFile(
  path: string,
  { filter, isJson, limit }: Shown & { readonly limit: number | undefined },
): Promise<void> {
  const stream = path === "-" ? Bun.stdin.stream() : Bun.file(path).stream();
  const kept: LogLine[] = [];
  try {
    for await (const text of readLines(stream)) {
      const line = readLogLine(text);
      if (!isMatch(line, filter)) continue;
      if (limit === undefined) printLine(line, isJson);
      else kept.push(line);
      if (limit !== undefined && kept.length > limit) kept.shift();
    }
  } catch (cause) {
    throw new Problem({
      code: "not_found",
      message: `${fileProblem(resolve(path), cause)} Without a file, svc logs shows the log of the running server.`,
      cause,
    });
  }
  for (const line of kept) printLine(line, isJson);
}

function printLine(line: LogLine, isJson: boolean): void {
  if (line.kind === "text") {
    if (isJson) printJsonLine({ message: line.text });
    else print(visible(line.text));
    return;
  }
  const { atMs, level, message, fields } = line;
  const time = new Date(atMs).toISOString();
  if (isJson) printJsonLine({ time, level, message, ...fields });
  else print(toReadable(line, { time, isColored: wantsColour(process.stdout) }));
}
