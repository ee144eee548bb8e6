import { invalid } from "../../base/problem.ts";
import { type CallFilter, mostCalls } from "../../platform/calls/operations.ts";
import type { CallView } from "../../platform/calls/views.ts";
import type { Operations } from "../../platform/operations.ts";
import { type Command, type Invocation, jsonFlag } from "../command.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { print, printJson, printJsonLine, printTable, style } from "../terminal/output.ts";
import { dialectFlag, readDialect } from "./dialect-flag.ts";
import { follow, readLimit, sinceWords } from "./follow.ts";

const usualLimit = 50;
const askEveryMs = 500;

const requests: Command = {
  name: "requests",
  about:
    "List calls, newest first: admitted ones and rejected ones, which have no receipt. With --follow: as they end.",
  flags: {
    account: { about: "only this account (id or name)", value: "A" },
    key: { about: "only this key (id)", value: "K" },
    model: { about: "only this model", value: "M" },
    dialect: dialectFlag,
    code: { about: "only this error code, for example insufficient_quota", value: "C" },
    rejected: { about: "only calls that were rejected before admission" },
    failed: { about: "only admitted calls that failed; with --rejected, both" },
    since: { about: `only calls since T: ${sinceWords}`, value: "T" },
    limit: {
      about: `maximum number of calls, up to ${mostCalls} (default: ${usualLimit})`,
      value: "N",
    },
    follow: { about: "print new calls as they end, until Ctrl-C", short: "f" },
    ...jsonFlag,
  },
  examples: [
    "svc requests",
    "svc requests --account acme --rejected --since 1h",
    "svc requests --follow",
    "svc requests --rejected --code insufficient_quota --json",
  ],
  async run({ flags, switches, wiring }) {
    const filter: CallFilter = {
      account: flags.account,
      key: flags.key,
      model: flags.model,
      dialect: readDialect(flags.dialect),
      code: flags.code,
      rejected: switches.has("rejected"),
      failed: switches.has("failed"),
    };
    const isJson = switches.has("json");
    if (switches.has("follow")) {
      refuseWithFollow(flags);
      return interruptible((signal) =>
        wiring.withOperations((operations) => followCalls({ operations, filter, isJson, signal })),
      );
    }
    const limit = readLimit(flags.limit, mostCalls) ?? usualLimit;
    const { since } = flags;
    const calls = await wiring.withOperations((operations) =>
      operations.calls.list({ ...filter, limit, ...(since === undefined ? {} : { since }) }),
    );
    if (isJson) return printJson(calls);
    printCalls(calls);
    if (calls.length === limit && limit < mostCalls)
      print(style.dim(`Showing the newest ${limit}. --limit N shows more.`));
  },
};

export const requestCommands: readonly Command[] = [requests];

function refuseWithFollow(flags: Invocation["flags"]): void {
  for (const name of ["since", "limit"])
    if (flags[name] !== undefined)
      throw invalid({ [name]: `${name} cannot be combined with --follow.` });
}

interface Followed {
  readonly operations: Operations;
  readonly filter: CallFilter;
  readonly isJson: boolean;
  readonly signal: AbortSignal;
}

/** What it prints can be read line by line. */
function followCalls({ operations, filter, isJson, signal }: Followed): Promise<void> {
  let isWaiting = isJson;
  return follow({
    ask: (after) => operations.calls.news({ ...filter, ...(after === undefined ? {} : { after }) }),
    show({ calls }) {
      if (!isWaiting) process.stderr.write("Waiting for calls. Press Ctrl-C to stop.\n");
      isWaiting = true;
      for (const call of calls)
        if (isJson) printJsonLine(call);
        else print(lineOf(call));
    },
    what: "calls",
    everyMs: askEveryMs,
    signal,
  });
}

const nameOf = ({ account, account_name }: CallView) => account_name ?? account;
/** Temporary keys, as the playground's, have no name. */
const keyOf = ({ key, key_name }: CallView) => key_name ?? key;
/** What the caller was told, and what the operator can do about it. */
const messageOf = ({ message, reason }: CallView) =>
  [reason === null ? "" : `[${reason}]`, message ?? ""].filter((word) => word !== "").join(" ");
const outcomeOf = ({ outcome, count }: CallView) =>
  count === 1 ? outcome : `${count} × ${outcome}`;

function printCalls(calls: readonly CallView[]): void {
  if (calls.length === 0) return print("No calls match.");
  printTable(
    [
      "started",
      "request",
      "account",
      "key",
      "model",
      "dialect",
      "status",
      "outcome",
      "charged USD",
      "ms",
      "message",
    ],
    calls.map((call) => [
      call.at,
      call.id,
      nameOf(call),
      keyOf(call),
      call.model,
      call.dialect,
      call.status,
      outcomeOf(call),
      call.charged_usd,
      call.duration_ms,
      messageOf(call),
    ]),
  );
}

function lineOf(call: CallView): string {
  const { at, id, model, dialect, status, outcome, kind, charged_usd, duration_ms } = call;
  // A reply that had begun has status 200, whatever ended it.
  const paint = outcome === "ok" ? style.green : kind === "rejected" ? style.yellow : style.red;
  const facts = [
    style.dim(at),
    paint(`${status ?? "–"} ${outcomeOf(call)}`),
    nameOf(call),
    keyOf(call),
    model ?? "–",
    ...(dialect === null ? [] : [dialect]),
    ...(kind === "rejected" ? [messageOf(call)] : [`${charged_usd} USD`, `${duration_ms} ms`]),
    style.dim(id),
  ];
  return facts.join("  ");
}
