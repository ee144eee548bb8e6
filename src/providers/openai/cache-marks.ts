import { monotonicMs } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { type ChatCall, isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";
import type { ProviderCall } from "../contract.ts";
import { remedyIn } from "../kit/remedy.ts";

/** Asked again after an hour: a server may have been updated. */
const longestMs = 3_600_000;
const mostModels = 256;
/** More are refused also by servers that take them. */
const mostMarks = 4;

/**
 * The models whose server has refused `cache_control` and served the same call without it. Belongs to
 * one provider as it is set up.
 *
 * A caller must not be able to turn off the caching of others. So a refusal teaches something only if
 * its call had nothing but marks that every server with `cache_control` takes: at most four, on texts
 * and tools. Calls with other marks are repeated without them, too, but are not remembered.
 */
export class CacheMarks {
  readonly #nowMs: () => number;
  /** When it was learned, by the upstream's name of the model. */
  readonly #learned = new Map<string, number>();

  constructor(nowMs: () => number = monotonicMs) {
    this.#nowMs = nowMs;
  }

  areRefusedFor(model: string): boolean {
    if (this.#learned.size === 0) return false;
    const atMs = this.#learned.get(model);
    if (atMs === undefined || this.#nowMs() - atMs <= longestMs) return atMs !== undefined;
    this.#learned.delete(model);
    return false;
  }

  /** Repeats a call that was refused for its marks; any other refusal is thrown. */
  async repeat<Reply>(
    { call, target: { model } }: Pick<ProviderCall<ChatCall>, "call" | "target">,
    { refusal, send }: { readonly refusal: unknown; readonly send: () => Promise<Reply> },
  ): Promise<Reply> {
    const isRefused = refusal instanceof ApiError && refusal.code === "upstream_rejected";
    if (!isRefused || remedyIn(refusal) !== "no-cache-control") throw refusal;
    const marks = marksIn(call);
    if (marks.count === 0 || this.areRefusedFor(model)) throw refusal;
    const reply = await send();
    if (marks.areUsual) this.#learn(model);
    return reply;
  }

  #learn(model: string): void {
    const [oldest] = this.#learned.keys();
    if (!this.#learned.has(model) && this.#learned.size >= mostModels && oldest !== undefined)
      this.#learned.delete(oldest);
    this.#learned.set(model, this.#nowMs());
  }
}

interface FoundMarks {
  readonly count: number;
  readonly areUsual: boolean;
}

function marksIn({ messages, options }: ChatCall): FoundMarks {
  const usual = new Set<unknown>();
  for (const message of messages) {
    if (message["role"] === "tool") usual.add(message);
    for (const part of objectsIn(message["content"])) if (hasText(part)) usual.add(part);
  }
  for (const tool of objectsIn(options["tools"])) usual.add(tool);
  let count = 0;
  let odd = 0;
  const visit = (value: Json | undefined, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > deepest) return;
    if (isJsonObject(value) && value["cache_control"] !== undefined) {
      count++;
      if (!usual.has(value)) odd++;
    }
    for (const inner of Object.values(value)) visit(inner, depth + 1);
  };
  for (const message of messages) visit(message, 0);
  visit(options["tools"], 0);
  return { count, areUsual: odd === 0 && count <= mostMarks };
}

/** As deep as marks are removed: list, part, and what is in it. */
const deepest = 8;

const hasText = ({ type, text }: JsonObject) =>
  type === "text" && typeof text === "string" && text.trim() !== "";

const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
