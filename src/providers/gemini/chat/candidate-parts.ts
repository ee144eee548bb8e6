import { type ChatPart, isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { isHollow } from "../../../call/usage.ts";
import { upstreamError } from "../../kit/failure.ts";
import { throwTold } from "../told-failure.ts";
import { fromUsageMetadata } from "../usage.ts";
import { toFinishReason } from "./finish-reason.ts";
import { fromFunctionCall, isText, toExtra } from "./from-candidates.ts";
import { fromLogprobsResult } from "./logprobs.ts";

interface CandidateState {
  calls: number;
  hasWords: boolean;
  hasMedia: boolean;
  /** Of the words; sent once, at the end: some clients join what comes twice. */
  signature: string | undefined;
  /** Some models tell it with every piece: the last one counts, and goes out at the end. */
  finish: string | undefined;
}

/** As many as may be asked for; an upstream that goes on has lost itself. */
const mostCandidates = 128;

/** What is said in the events of one stream. */
export class CandidateParts {
  readonly #provider: string;
  readonly #states = new Map<number, CandidateState>();
  #usage: JsonObject | undefined;

  constructor(provider: string) {
    this.#provider = provider;
  }

  take(reply: JsonObject, parts: ChatPart[]): void {
    throwTold(reply, this.#provider);
    const { candidates, usageMetadata: usage } = reply;
    if (isJsonObject(usage)) this.#usage = usage;
    if (!Array.isArray(candidates)) return;
    for (const candidate of candidates)
      if (isJsonObject(candidate)) this.#takeCandidate(candidate, parts);
  }

  /**
   * What was counted until now; once a packet, because every event tells it. A caller who leaves
   * pays by it, so that a count without the words that were said is none.
   */
  count(parts: ChatPart[]): void {
    const hasSaid = this.#hasSaid();
    const usage = fromUsageMetadata(this.#usage, !hasSaid && this.#isOver());
    this.#usage = undefined;
    if (usage !== undefined && !isHollow(usage, hasSaid)) parts.push({ type: "usage", usage });
  }

  /** At the end of the body: whether that was the end of the answer. */
  end(parts: ChatPart[]): boolean {
    let isWhole = this.#states.size > 0;
    for (const [index, state] of this.#states) {
      const { finish, hasWords, hasMedia, calls, signature } = state;
      if (finish === undefined) {
        isWhole = false;
        continue;
      }
      const saying = { hasWords, hasMedia, hasCalls: calls > 0 };
      const reason = toFinishReason(finish, { saying, provider: this.#provider });
      if (signature !== undefined) {
        const delta = { extra_content: toExtra(signature) };
        parts.push({ type: "delta", index, delta, logprobs: null });
      }
      parts.push({ type: "finish", index, reason });
    }
    if (isWhole) parts.push({ type: "done" });
    return isWhole;
  }

  #takeCandidate(candidate: JsonObject, parts: ChatPart[]): void {
    const { index: given, content, finishReason: finish, logprobsResult } = candidate;
    const index = typeof given === "number" && Number.isSafeInteger(given) && given > 0 ? given : 0;
    const state = this.#state(index);
    if (isText(finish)) state.finish = finish;
    const said = isJsonObject(content) ? content["parts"] : undefined;
    const start = parts.length;
    if (Array.isArray(said))
      for (const part of said)
        if (isJsonObject(part)) this.#takePart(part, { index, state, parts });
    if (logprobsResult !== undefined) addLogprobs(parts, { index, start, logprobsResult });
  }

  #takePart(
    part: JsonObject,
    {
      index,
      state,
      parts,
    }: { readonly index: number; readonly state: CandidateState; readonly parts: ChatPart[] },
  ): void {
    const { text, thought, functionCall, thoughtSignature: signature } = part;
    if (isJsonObject(functionCall)) {
      const call = fromFunctionCall(functionCall, { signature, provider: this.#provider });
      const delta = { tool_calls: [{ index: state.calls, ...call }] };
      state.calls++;
      parts.push({ type: "delta", index, delta, logprobs: null });
      return;
    }
    if (typeof text !== "string") {
      if (part["inlineData"] !== undefined) state.hasMedia = true;
      return;
    }
    if (text !== "") {
      state.hasWords = true;
      if (thought === true)
        parts.push({ type: "delta", index, delta: { reasoning_content: text }, logprobs: null });
      else parts.push({ type: "text-delta", index, text });
    }
    if (isText(signature)) state.signature = signature;
  }

  #hasSaid(): boolean {
    for (const { hasWords, calls } of this.#states.values()) if (hasWords || calls > 0) return true;
    return false;
  }

  /** Every candidate has told why it ended. */
  #isOver(): boolean {
    for (const { finish } of this.#states.values()) if (finish === undefined) return false;
    return this.#states.size > 0;
  }

  #state(index: number): CandidateState {
    const known = this.#states.get(index);
    if (known !== undefined) return known;
    if (this.#states.size === mostCandidates)
      throw upstreamError("upstream_error", {
        detail: `${this.#provider} sent more than ${mostCandidates} candidates`,
      });
    const state: CandidateState = {
      calls: 0,
      hasWords: false,
      hasMedia: false,
      signature: undefined,
      finish: undefined,
    };
    this.#states.set(index, state);
    return state;
  }
}

/** They stand beside the first text that the event has. */
function addLogprobs(
  parts: ChatPart[],
  {
    index,
    start,
    logprobsResult,
  }: { readonly index: number; readonly start: number; readonly logprobsResult: Json },
): void {
  const logprobs = fromLogprobsResult(logprobsResult);
  if (logprobs === null) return;
  const at = parts.findIndex(({ type }, place) => place >= start && type === "text-delta");
  const text = parts[at];
  const content = text?.type === "text-delta" ? text.text : "";
  const part: ChatPart = { type: "delta", index, delta: { content }, logprobs };
  parts.splice(at === -1 ? parts.length : at, at === -1 ? 0 : 1, part);
}
