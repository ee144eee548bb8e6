/**
 * Random answers of a server of the chat-completions format, with all that only this format and some
 * others have: refusals, sources, the likelihood of tokens.
 */

import type { FinishReason, JsonObject } from "../../../src/call/chat.ts";
import type { Dice } from "../../fuzz/cases/dice.ts";
import type { Counts, VendorReply } from "../../providers/dialect.ts";
import { toOpenAiUsage } from "../../providers/dialects/openai.ts";
import type { CalledTool } from "../driver.ts";
import { called, text } from "./words.ts";

type SpokenPiece =
  | { readonly reasoning: string }
  | { readonly text: string; readonly logprobs?: readonly JsonObject[] }
  | { readonly refusal: string }
  | { readonly sources: readonly JsonObject[] }
  | { readonly call: CalledTool; readonly pieces: readonly string[] };

export interface Spoken {
  readonly pieces: readonly SpokenPiece[];
  readonly finish: FinishReason;
  readonly usage: Counts;
}

/** Thoughts, then a refusal, or words with calls in their middle and sources at their end. */
export function randomAnswer(dice: Dice): Spoken {
  const likely = dice.percent(30);
  const refuses = dice.percent(15);
  const hasWords = !refuses && dice.percent(80);
  const hasCalls = !refuses && dice.percent(40);
  const words: readonly SpokenPiece[] = hasWords
    ? dice.list(dice.between(1, 5), () => word(dice, likely))
    : [];
  const calls: readonly SpokenPiece[] = hasCalls
    ? called(dice, 0).map((call) => ({ call, pieces: cut(dice, call.arguments) }))
    : [];
  const refusal = refuses ? cut(dice, text(dice)) : [];
  const isCited = hasWords && dice.percent(30);
  const pieces = [
    ...(dice.percent(30) ? thoughts(dice) : []),
    ...(dice.percent(50) ? [...words, ...calls] : mixed(dice, words, calls)),
    ...refusal.map((piece) => ({ refusal: piece })),
    ...(isCited ? [{ sources: dice.list(dice.between(1, 3), () => source(dice)) }] : []),
  ];
  const ends: readonly FinishReason[] = refuses ? ["stop"] : ["stop", "length", "content_filter"];
  return { pieces, finish: hasCalls ? "tool_calls" : dice.pick(ends), usage: counts(dice) };
}

/** One that comes back in the history: it has thoughts. */
export function pastAnswer(dice: Dice, calls: readonly CalledTool[]): Spoken {
  const hasText = calls.length === 0 || dice.percent(50);
  const refuses = calls.length === 0 && dice.percent(25);
  const said = text(dice);
  const pieces = [
    ...thoughts(dice),
    ...(hasText ? [refuses ? { refusal: said } : { text: said }] : []),
    ...calls.map((call) => ({ call, pieces: cut(dice, call.arguments) })),
  ];
  return { pieces, finish: calls.length > 0 ? "tool_calls" : "stop", usage: counts(dice) };
}

/** In the order of each, one among the other. */
function mixed<T>(dice: Dice, some: readonly T[], others: readonly T[]): readonly T[] {
  const [first, ...rest] = some;
  const [other, ...more] = others;
  if (first === undefined || other === undefined) return [...some, ...others];
  return dice.percent(50)
    ? [first, ...mixed(dice, rest, others)]
    : [other, ...mixed(dice, some, more)];
}

function cut(dice: Dice, whole: string): readonly string[] {
  const at = dice.below(whole.length + 1);
  return [whole.slice(0, at), whole.slice(at)].filter((piece) => piece !== "");
}

const thoughts = (dice: Dice): readonly SpokenPiece[] =>
  cut(dice, text(dice)).map((piece) => ({ reasoning: piece }));

function word(dice: Dice, likely: boolean): SpokenPiece {
  const said = text(dice);
  if (!likely) return { text: said };
  const token = said.slice(0, 20).toWellFormed();
  const one = { token, logprob: -dice.below(100) / 8, bytes: [...Buffer.from(token)] };
  return { text: said, logprobs: [{ ...one, top_logprobs: [one] }] };
}

function source(dice: Dice): JsonObject {
  const start = dice.below(10);
  const url = `https://example.com/${dice.below(1_000)}`;
  const cited = { start_index: start, end_index: start + dice.below(10), url, title: "A page" };
  return { type: "url_citation", url_citation: cited };
}

function counts(dice: Dice): Counts {
  const input = dice.between(1, 100_000);
  const output = dice.between(1, 8_000);
  return { input, output, cached: dice.below(input), reasoning: dice.below(output) };
}

const envelope = { id: "chatcmpl-vendor0002", created: 1_791_968_400, model: "gpt-4o-mini" };

export function toReply({ pieces, finish, usage }: Spoken, isStreamed: boolean): VendorReply {
  return isStreamed ? toStream({ pieces, finish, usage }) : toWhole({ pieces, finish, usage });
}

function toWhole({ pieces, finish, usage }: Spoken): VendorReply {
  const texts = pieces.flatMap((piece) => ("text" in piece ? [piece.text] : []));
  const refusals = pieces.flatMap((piece) => ("refusal" in piece ? [piece.refusal] : []));
  const thought = pieces.flatMap((piece) => ("reasoning" in piece ? [piece.reasoning] : []));
  const sources = pieces.flatMap((piece) => ("sources" in piece ? piece.sources : []));
  const likely = pieces.flatMap((piece) => ("text" in piece ? (piece.logprobs ?? []) : []));
  const calls = pieces.flatMap((piece) => ("call" in piece ? [toCall(piece.call)] : []));
  const message = {
    role: "assistant",
    content: texts.length === 0 ? null : texts.join(""),
    refusal: refusals.length === 0 ? null : refusals.join(""),
    ...(thought.length === 0 ? {} : { reasoning_content: thought.join("") }),
    ...(sources.length === 0 ? {} : { annotations: sources }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const choice = { index: 0, message, logprobs: toLogprobs(likely), finish_reason: finish };
  const reply = { ...envelope, object: "chat.completion", choices: [choice] };
  return {
    headers: { "content-type": "application/json" },
    packets: [JSON.stringify({ ...reply, usage: toOpenAiUsage(usage) })],
  };
}

function toStream({ pieces, finish, usage }: Spoken): VendorReply {
  let place = 0;
  const chunks = pieces.flatMap((piece): readonly JsonObject[] => {
    if ("text" in piece) return [toChunk({ content: piece.text }, piece.logprobs)];
    if ("reasoning" in piece) return [toChunk({ reasoning_content: piece.reasoning })];
    if ("refusal" in piece) return [toChunk({ refusal: piece.refusal })];
    if ("sources" in piece) return [toChunk({ annotations: piece.sources })];
    const index = place++;
    const { id, name } = piece.call;
    const opening = { index, id, type: "function", function: { name, arguments: "" } };
    return [
      toChunk({ tool_calls: [opening] }),
      ...piece.pieces.map((part) =>
        toChunk({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ];
  });
  const all = [
    toChunk({ role: "assistant", content: "", refusal: null }),
    ...chunks,
    toChunk({}, [], finish),
    { ...toChunk({}), choices: [], usage: toOpenAiUsage(usage) },
  ];
  return {
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    packets: [...all.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"],
  };
}

function toChunk(
  delta: JsonObject,
  likely: readonly JsonObject[] = [],
  finish: string | null = null,
): JsonObject {
  const choice = { index: 0, delta, logprobs: toLogprobs(likely), finish_reason: finish };
  return { ...envelope, object: "chat.completion.chunk", choices: [choice], usage: null };
}

const toLogprobs = (likely: readonly JsonObject[]) =>
  likely.length === 0 ? null : { content: likely, refusal: null };

const toCall = ({ id, name, arguments: text }: CalledTool): JsonObject => ({
  id,
  type: "function",
  function: { name, arguments: text },
});
