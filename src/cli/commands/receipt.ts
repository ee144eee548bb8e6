import { toDateText } from "../../base/dates.ts";
import { idTimeMs } from "../../base/ids.ts";
import { toUsd } from "../../base/money.ts";
import { Problem } from "../../base/problem.ts";
import { csvLine } from "../../base/text/csv.ts";
import { outcomeLabel } from "../../call/outcome.ts";
import { isPiece, type Price, type PriceKey, priceKeys } from "../../call/price.ts";
import type { ReceiptAttempt } from "../../ledger/attempt.ts";
import type { HoldParts } from "../../ledger/need.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { replyStatus } from "../../ledger/reply-status.ts";
import type { LedgerReader, ReceiptFilter } from "../../ledger/store.ts";
import { toMoment } from "../../platform/input/values.ts";
import {
  operatorColumns,
  type ReceiptCell,
  type ReceiptNames,
} from "../../platform/requests/columns.ts";
import { receiptNames } from "../../platform/requests/export/export.ts";
import { toExactUsd, toUnitPriceUsd, unitWords, workOut } from "../../platform/requests/views.ts";
import { writeOut } from "../call/io.ts";
import { type Command, type Invocation, jsonFlag } from "../command.ts";
import { print, printJson, printTable, style } from "../terminal/output.ts";
import { dialectFlag, readDialect } from "./dialect-flag.ts";
import { receiptExport } from "./export.ts";
import { ledgerVerify } from "./ledger.ts";

const usualLimit = 50;
/** Written to the reader at once. */
const linesAtOnce = 500;

const receiptList: Command = {
  name: "receipt list",
  about: "List receipts, newest first. With --csv: all of them, oldest first.",
  flags: {
    account: { about: "only this account (id or name)", value: "A" },
    key: { about: "only this key (id or name)", value: "K" },
    model: { about: "only this model", value: "M" },
    dialect: dialectFlag,
    outcome: {
      about: "only this outcome: ok, left (the caller disconnected) or an error code",
      value: "O",
    },
    from: { about: "started on or after this date (UTC) or time", value: "DATE" },
    to: { about: "started on or before this date (UTC), or before this time", value: "DATE" },
    limit: { about: `maximum number of receipts (default: ${usualLimit})`, value: "N" },
    csv: { about: "print CSV" },
    ...jsonFlag,
  },
  examples: [
    "svc receipt list",
    "svc receipt list --account acme --from 2027-01-01 --to 2027-01-31 --csv > january.csv",
    "svc receipt list --outcome left --limit 10 --json",
  ],
  run: ({ flags, switches, wiring }) =>
    wiring.withLedger(async (ledger) => {
      const isCsv = switches.has("csv");
      if (isCsv && switches.has("json"))
        throw new Problem({
          code: "invalid",
          field: "csv",
          message: "Use either --csv or --json.",
        });
      const names = await receiptNames(ledger);
      const filter = readFilter(flags, names);
      if (isCsv) return writeCsv(ledger.receipts({ ...filter, oldestFirst: true }), names);
      const receipts: Receipt[] = [];
      const limit = filter.limit ?? usualLimit;
      for await (const receipt of ledger.receipts({ ...filter, limit })) receipts.push(receipt);
      if (switches.has("json")) return printJson(receipts.map((one) => toView(one, names)));
      printReceipts(receipts, names);
      if (receipts.length === limit)
        print(style.dim(`Showing the newest ${limit}. --limit N shows more, --csv exports all.`));
    }),
};

const receiptShow: Command = {
  name: "receipt",
  about: "Show a receipt and how its cost was calculated.",
  positionals: ["ID"],
  flags: jsonFlag,
  examples: ["svc receipt req_0199…", "svc receipt req_0199… --json"],
  run: ({ positionals: [id = ""], switches, wiring }) =>
    wiring.withLedger(async (ledger) => {
      const receipt = await ledger.receipt(id);
      if (receipt === undefined)
        throw new Problem({
          code: "not_found",
          message: `Unknown receipt "${id}". The id is in the x-request-id header of the reply.`,
          command: "receipt list",
        });
      const names = await receiptNames(ledger);
      const price = await priceOf(ledger, receipt);
      if (switches.has("json")) return printJson(toView(receipt, names));
      for (const line of receiptLines({
        receipt,
        price,
        account: names.accounts.get(receipt.accountId),
      }))
        print(line);
    }),
};

export const receiptCommands: readonly Command[] = [
  receiptList,
  receiptExport,
  receiptShow,
  ledgerVerify,
];

function readFilter(flags: Invocation["flags"], { accounts, keys }: ReceiptNames): ReceiptFilter {
  return {
    accountId: flags.account === undefined ? undefined : findAccount(flags.account, accounts),
    keyId: flags.key === undefined ? undefined : findKey(flags.key, keys),
    model: flags.model,
    dialect: readDialect(flags.dialect),
    outcome: flags.outcome,
    fromMs: readDate(flags, "from"),
    toMs: readEnd(flags),
    limit: readLimit(flags.limit),
  };
}

/** By id, or by a name that only one key has; any other is taken for the id of a temporary key. */
function findKey(idOrName: string, names: ReadonlyMap<string, string>): string {
  if (names.has(idOrName)) return idOrName;
  const found = [...names].filter(([, name]) => name === idOrName);
  const [only] = found;
  if (found.length > 1)
    throw new Problem({
      code: "invalid",
      field: "key",
      message: `${found.length} keys are named "${idOrName}". Use the id.`,
      command: "key list --wide",
    });
  return only?.[0] ?? idOrName;
}

function findAccount(idOrName: string, names: ReadonlyMap<string, string>): string {
  if (names.has(idOrName)) return idOrName;
  for (const [id, name] of names) if (name === idOrName) return id;
  throw new Problem({
    code: "not_found",
    field: "account",
    message: `Unknown account "${idOrName}".`,
    command: "account list",
  });
}

/** The last day is included. */
function readEnd(flags: Invocation["flags"]): number | undefined {
  const ms = readDate(flags, "to");
  const isDay = /^\d{4}-\d\d-\d\d$/.test(flags["to"] ?? "");
  return ms !== undefined && isDay ? ms + 86_400_000 : ms;
}

function readDate(flags: Invocation["flags"], name: "from" | "to"): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  return toMoment(text, name);
}

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new Problem({
    code: "invalid",
    field: "limit",
    message: `Expected a whole number above 0, not "${text}".`,
  });
}

async function priceOf(ledger: LedgerReader, receipt: Receipt): Promise<Price | undefined> {
  const { model, priceVersion } = receipt;
  const prices = await ledger.prices();
  const found = prices.find((one) => one.modelId === model && one.version === priceVersion);
  return found?.price ?? undefined;
}

export interface ReceiptText {
  readonly receipt: Receipt;
  /** Undefined: its version is not known. */
  readonly price: Price | undefined;
  /** The account's name. */
  readonly account: string | undefined;
}

export function receiptLines({ receipt, price, account }: ReceiptText): string[] {
  const { firstByteMs, durationMs } = receipt;
  const beganMs = idTimeMs(receipt.id);
  const firstByte = firstByteMs === undefined ? "none" : `after ${firstByteMs} ms`;
  const facts: (readonly [string, string])[] = [
    ["account", `${account ?? "unknown"} (${receipt.accountId})`],
    ["key", receipt.keyId],
    ["model", `${receipt.model} (${receipt.endpoint})`],
    ...(receipt.endpoint === "chat" ? [["dialect", receipt.dialect ?? "unknown"] as const] : []),
    ["provider", receipt.provider === "" ? "none" : receipt.provider],
    ...attemptFacts(receipt),
    ["outcome", outcomeText(receipt)],
    ["streamed", receipt.isStreamed === undefined ? "unknown" : receipt.isStreamed ? "yes" : "no"],
    ["started", toDateText(beganMs)],
    ["first byte", firstByte],
    ["ended", `${toDateText(beganMs + durationMs)}, after ${durationMs} ms`],
    ["counted by", countedBy(receipt)],
  ];
  if (receipt.reasoningTokens > 0)
    facts.push(["reasoning", `${receipt.reasoningTokens} of the output tokens`]);
  return [
    style.bold(receipt.id),
    ...labelled(facts),
    "",
    ...(price === undefined
      ? [`Price version ${receipt.priceVersion} is unknown, so the cost cannot be recalculated.`]
      : arithmeticLines(receipt, price)),
    ...labelled(moneyFacts(receipt)),
  ];
}

/** The code stays, for scripts and for the docs. */
function outcomeText(receipt: Receipt): string {
  const { outcome } = receipt;
  const status = replyStatus(receipt);
  const notes = [
    ...(outcome === "ok" ? [] : [outcome]),
    status === undefined ? "no reply" : `HTTP ${status}`,
  ];
  return `${outcomeLabel(outcome)} (${notes.join(", ")})`;
}

function attemptFacts({ attempts }: Receipt): [string, string][] {
  if (attempts.length === 0) return [["attempts", "none"]];
  return attempts.map((attempt, at) => [at === 0 ? "attempts" : "", attemptText(attempt)]);
}

function attemptText(attempt: ReceiptAttempt): string {
  const { provider, model, key, code = "served", status, detail, startedMs, durationMs } = attempt;
  const target = provider === "" ? "no target available" : `${provider}/${model}`;
  const facts = [
    ...(key === undefined ? [] : [`key ${key}`]),
    code,
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(startedMs === undefined || durationMs === undefined
      ? []
      : [`${startedMs}–${startedMs + durationMs} ms`]),
  ];
  return `${target}: ${facts.join(", ")}${detail === undefined ? "" : ` (${detail})`}`;
}

export function arithmeticLines(receipt: Receipt, price: Price): string[] {
  const { cost, priceVersion } = receipt;
  const worked = workOut(receipt, price);
  const rows = worked.rows.map(({ key, units, each, amount }) => ({
    text: `${unitWords[key]}: ${units} × ${priceText(key, each)}`,
    amount,
  }));
  const width = Math.max(3, ...rows.map(({ text }) => text.length));
  const line = (text: string, amount: bigint) => `  ${text.padEnd(width)} = ${toExactUsd(amount)}`;
  return [
    `price version ${priceVersion}, in USD`,
    ...rows.map(({ text, amount }) => line(text, amount)),
    line("sum", worked.sum),
    `  rounded up once: ${toUsd(worked.cost)}`,
    ...(worked.cost === cost
      ? []
      : [style.red(`  the receipt has ${toUsd(cost)}, which is wrong`)]),
    "",
  ];
}

function priceText(key: PriceKey, each: bigint): string {
  return `${toUnitPriceUsd(key, each)} ${isPiece(key) ? "each" : "per million"}`;
}

function moneyFacts({ cost, charged, hold, vendorCost, terms }: Receipt): [string, string][] {
  const facts: [string, string][] = [
    ["cost", `${toUsd(cost)} USD`],
    ["charged", `${toUsd(charged)} USD`],
    ["hold", `${toUsd(hold)} USD, set aside before the call`],
  ];
  if (terms !== undefined)
    facts.push(
      ["hold for", holdText(terms.hold)],
      ["limits", `key version ${terms.keyLimits}, account version ${terms.accountLimits}`],
    );
  if (charged < cost)
    facts.push(["shortfall", `${toUsd(cost - charged)} USD, borne by the operator`]);
  if (vendorCost !== undefined)
    facts.push(
      ["vendor cost", `${toUsd(vendorCost)} USD`],
      ["margin", `${toUsd(charged - vendorCost)} USD`],
    );
  return facts;
}

function holdText({ input, output, audio, image, video, audioSeconds = 0 }: HoldParts): string {
  const parts: readonly (readonly [number, string])[] = [
    [input, "input tokens"],
    [output, "output tokens"],
    [audio, "audio output tokens"],
    [image, "images"],
    [video, "seconds of video"],
    [audioSeconds, "seconds of audio"],
  ];
  const used = parts.filter(([count]) => count > 0);
  const textOf = ([count, name]: readonly [number, string]) =>
    `${count} ${count === 1 ? name.replace(/s\b/, "") : name}`;
  return used.length === 0 ? "nothing" : used.map(textOf).join(", ");
}

function labelled(facts: readonly (readonly [string, string])[]): string[] {
  const width = "vendor cost".length;
  return facts.map(([label, text]) => `${style.dim(label.padEnd(width))}  ${text}`);
}

function toView(receipt: Receipt, names: ReceiptNames): Readonly<Record<string, ReceiptCell>> {
  const cells = operatorColumns.cells(receipt, names);
  return Object.fromEntries(operatorColumns.names.map((name, at) => [name, cells[at] ?? null]));
}

/** Streams, so that any number fits in memory. */
async function writeCsv(receipts: AsyncIterable<Receipt>, names: ReceiptNames): Promise<void> {
  let lines = [csvLine(operatorColumns.names)];
  for await (const receipt of receipts) {
    lines.push(csvLine(operatorColumns.cells(receipt, names)));
    if (lines.length < linesAtOnce) continue;
    await writeOut(lines.join(""));
    lines = [];
  }
  if (lines.length > 0) await writeOut(lines.join(""));
}

function printReceipts(receipts: readonly Receipt[], { accounts }: ReceiptNames): void {
  if (receipts.length === 0) return print("No receipts.");
  printTable(
    ["started", "receipt", "account", "model", "dialect", "outcome", "units", "charged USD", "ms"],
    receipts.map((receipt) => [
      toDateText(idTimeMs(receipt.id)),
      receipt.id,
      accounts.get(receipt.accountId) ?? receipt.accountId,
      receipt.model,
      receipt.dialect ?? null,
      outcomeLabel(receipt.outcome),
      priceKeys.reduce((sum, key) => sum + (receipt.units[key] ?? 0), 0),
      toUsd(receipt.charged),
      receipt.durationMs,
    ]),
  );
}

function countedBy({ units, estimated }: Receipt): string {
  if (Object.values(units).every((count) => count === 0)) return "nothing was used";
  return estimated ? "the gateway (estimate)" : "the provider";
}
