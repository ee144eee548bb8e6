/** What must hold after a crash, whatever the moment it came at. */

import type { Receipt } from "../../src/ledger/receipt.ts";
import type { Answered } from "./callers.ts";
import { outputTokens, type UpstreamCall } from "./vendor.ts";

export interface Evidence {
  /** What the callers saw until the process was killed. */
  readonly answers: readonly Answered[];
  /** What those with an Idempotency-Key saw when they asked again after the start. */
  readonly repeats: readonly Answered[];
  /** Of this round: those that the crash left, and all. */
  readonly receiptsAfterCrash: readonly Receipt[];
  readonly receipts: readonly Receipt[];
  /** By the number that the receipt carries. */
  readonly upstreamCalls: ReadonlyMap<string, UpstreamCall>;
}

export function judge(evidence: Evidence): readonly string[] {
  const { answers, repeats, receipts } = evidence;
  const byMarker = new Map<string, Receipt[]>();
  const problems: string[] = [];
  for (const receipt of receipts) {
    const call = evidence.upstreamCalls.get(numberOf(receipt));
    problems.push(...judgeReceipt(receipt, call));
    if (call === undefined) continue;
    byMarker.set(call.marker, [...(byMarker.get(call.marker) ?? []), receipt]);
  }
  for (const [marker, list] of byMarker)
    if (list.length > 1) problems.push(`${marker} has ${list.length} receipts`);
  const receiptOf = (marker: string) => byMarker.get(marker)?.[0];
  const before = new Set(evidence.receiptsAfterCrash.map(({ id }) => id));
  // What a repeat was charged is none of the first call's: that one broke and was free.
  const stoodFor = (marker: string) => byMarker.get(marker)?.find(({ id }) => before.has(id));
  for (const answer of answers) problems.push(...judgeAnswer(answer, stoodFor));
  for (const repeat of repeats) {
    const first = answers.find(({ call }) => call.marker === repeat.call.marker);
    const receipt = receiptOf(repeat.call.marker);
    const stood = receipt !== undefined && before.has(receipt.id);
    const asked = [...evidence.upstreamCalls.values()].filter(
      ({ marker }) => marker === repeat.call.marker,
    ).length;
    const found = stood
      ? judgeReplay({ repeat, first, receipt, asked })
      : judgeAnswer(repeat, receiptOf);
    problems.push(...found);
  }
  return problems;
}

/** How a receipt names the upstream call that it is for. */
export function numberOf({ endpoint, units }: Receipt): string {
  return `${endpoint} ${endpoint === "speech" ? units.audio_output : units.input}`;
}

function judgeReceipt(receipt: Receipt, call: UpstreamCall | undefined): readonly string[] {
  const { id, outcome, cost, charged, hold, endpoint, units } = receipt;
  if (call === undefined) return [`receipt ${id} (${numberOf(receipt)}) is for no upstream call`];
  const problems: string[] = [];
  if (call.request.bytesSent < call.neededBytes)
    problems.push(`${call.marker} is paid for, but its upstream had not finished`);
  if (outcome !== "ok") problems.push(`${call.marker} has a receipt that says ${outcome}`);
  // The upstream counts its calls in its usage, also beyond what was held for them.
  if (charged !== (cost < hold ? cost : hold) || cost <= 0n)
    problems.push(`${call.marker} cost ${cost}, and ${charged} was charged`);
  if (endpoint === "chat" && units.output !== outputTokens)
    problems.push(`${call.marker} is charged ${units.output} tokens of output`);
  return problems;
}

function judgeAnswer(
  { call, end, status, headers }: Answered,
  receiptOf: (marker: string) => Receipt | undefined,
): readonly string[] {
  const receipt = receiptOf(call.marker);
  const requestId = headers["x-request-id"];
  const what = `${call.marker} (${call.kind})`;
  if (status !== undefined && status !== 200) return [`${what} was answered ${status}`];
  if (end === "whole" && receipt === undefined) return [`${what} came whole and has no receipt`];
  // The head of a reply that broke off tells its id as well.
  if (receipt !== undefined && requestId !== undefined && receipt.id !== requestId)
    return [`${what} was ${requestId}, and its receipt is ${receipt.id}`];
  return [];
}

/** The key's first request was paid for: it is given again, and nobody is asked or charged again. */
function judgeReplay(options: {
  readonly repeat: Answered;
  readonly first: Answered | undefined;
  readonly receipt: Receipt;
  readonly asked: number;
}): readonly string[] {
  const { repeat, first, receipt, asked } = options;
  const { call, status, headers, body } = repeat;
  const what = `${call.marker} (${call.kind}, asked again)`;
  const problems: string[] = [];
  if (asked !== 1) problems.push(`${what} reached the upstream ${asked} times`);
  if (call.kind === "stream") {
    const isTold = status === 409 && body.includes("idempotency_reply_not_kept");
    if (!isTold) problems.push(`${what} was answered ${status} in place of 409`);
    return problems;
  }
  if (status !== 200 || headers["idempotent-replayed"] !== "true")
    problems.push(`${what} was not given again: ${status}`);
  if (headers["x-original-request-id"] !== receipt.id)
    problems.push(`${what} names ${headers["x-original-request-id"]}, not ${receipt.id}`);
  if (first?.end === "whole" && !first.body.equals(body))
    problems.push(`${what} is another reply than the first`);
  return problems;
}
