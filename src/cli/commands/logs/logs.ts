import { fstatSync } from "node:fs";
import { type LineLevel, logLevels, toReadable } from "../../../base/log.ts";
import { invalid, Problem } from "../../../base/problem.ts";
import { visible } from "../../../base/text/visible-text.ts";
import { wantsColour } from "../../../config/terminal.ts";
import { toDurationMs, toMoment } from "../../../platform/input/values.ts";
import type { Operations } from "../../../platform/operations.ts";
import { type Command, type Invocation, jsonFlag } from "../../command.ts";
import { fileProblem } from "../../terminal/file-problem.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { print, printJsonLine } from "../../terminal/output.ts";
import { type LogLine, readLogLine, toLogLine } from "./log-line.ts";
import { readLines } from "./read-lines.ts";

const usualLimit = 200;
const mostLimit = 100_000;
const askEveryMs = 250;
const mostDays = 3_650;
const levels = logLevels.filter((level) => level !== "silent");

export const logsCommand: Command = {
  name: "logs",
  about:
    "Show the log of the running server: its latest 2,000 lines, or new ones with --follow. With a file, or - for standard input: a log that was saved as JSON.",
  optional: ["FILE"],
  flags: {
    follow: { about: "print new lines as they come, until Ctrl-C", short: "f" },
    level: {
      about: `only lines of this level or above: ${levels.join(", ")}`,
      value: "L",
      choices: levels,
    },
    since: { about: "only from this date (UTC), time or duration on, for example 10m", value: "T" },
    request: { about: "only lines about this request (x-request-id of the reply)", value: "ID" },
    slow: { about: "only slow requests; SVC_SLOW_REQUEST_MS sets what is slow" },
    limit: {
      about: `maximum number of lines, the newest ones (default: ${usualLimit}; of a file: all)`,
      value: "N",
    },
    ...jsonFlag,
  },
  examples: [
    "svc logs",
    "svc logs --follow --level warn",
    "svc logs --request req_0199f3 --json",
    "svc logs /var/log/svc.log --level error",
  ],
  async run({ flags, switches, positionals: [given], wiring }) {
    const filter = readFilter(flags, switches);
    const isJson = switches.has("json");
    const path = given ?? (isInputFile() ? "-" : undefined);
    const limit = readLimit(flags["limit"]);
    if (path === undefined) {
      const shown = { filter, isJson, limit: limit ?? usualLimit };
      if (!switches.has("follow"))
        return void (await wiring.withOperations((operations) => show({ ...shown, operations })));
      return interruptible((signal) =>
        wiring.withOperations((operations) => follow({ ...shown, operations, signal })),
      );
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
  return { least, fromMs: sinceMs(since), request, isSlow: switches.has("slow") };
}

function sinceMs(text: string | undefined): number {
  if (text === undefined) return Number.NEGATIVE_INFINITY;
  return /^\d+[smhd]$/.test(text)
    ? Date.now() - toDurationMs({ text, field: "since", maxDays: mostDays })
    : toMoment(text, "since");
}

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= mostLimit) return limit;
  throw invalid({
    limit: `limit must be a whole number between 1 and ${mostLimit}, not "${text}".`,
  });
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

async function show({ operations, filter, isJson, limit }: Live): Promise<number> {
  const { lines, after } = await operations.logs.read({});
  const found = toLines(lines).filter((line) => isMatch(line, filter));
  for (const line of found.slice(-limit)) printLine(line, isJson);
  if (found.length === 0 && !isJson) process.stderr.write("No lines match.\n");
  return after;
}

const toLines = (views: readonly Readonly<Record<string, unknown>>[]) =>
  views.map(toLogLine).filter((line) => line !== undefined);

/** Asks the server until the signal ends it, or nobody reads any more. */
async function follow(live: Live & { readonly signal: AbortSignal }): Promise<void> {
  const { operations, filter, isJson, signal } = live;
  let after = await show(live);
  while (!signal.aborted && !process.stdout.destroyed) {
    const news = await operations.logs.read({ after }).catch(toStopped);
    after = news.after;
    for (const line of toLines(news.lines)) if (isMatch(line, filter)) printLine(line, isJson);
    if (news.missed > 0)
      process.stderr.write(`${news.missed} lines are not shown: too many at once.\n`);
    await pause(signal);
  }
  signal.throwIfAborted();
}

function toStopped(error: unknown): never {
  if (error instanceof Problem) throw error;
  throw new Problem({ code: "failed", message: "The server has stopped.", cause: error });
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, askEveryMs);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
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
    throw new Problem({ code: "not_found", message: fileProblem(path, cause), cause });
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
