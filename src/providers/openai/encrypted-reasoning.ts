import { monotonicMs } from "../../base/clock.ts";
import type { UpstreamRemedy } from "../../base/errors.ts";
import {
  type ChatPart,
  type ChatStream,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../call/chat.ts";
import { remedyIn } from "../kit/remedy.ts";

const wanted = "reasoning.encrypted_content";
/** What a model accepts is tried again after an hour: a server may have another one by that name. */
const longestMs = 3_600_000;
const mostModels = 256;

interface Asked<T> {
  /** The upstream's own name. */
  readonly model: string;
  readonly body: JsonObject;
  readonly send: (body: JsonObject) => Promise<T>;
}

/**
 * A vendor encrypts reasoning for one model and one account. Where a conversation moves to another,
 * the vendor refuses the request, which it does not bill. The request is then sent once more without
 * the reasoning: the model reasons again, as it does for a conversation that it has not seen.
 *
 * Models without reasoning refuse even the wish for it. They are remembered, so that it is left out
 * at once. Belongs to one provider as it is set up.
 */
export class EncryptedReasoning {
  readonly #unsupported = new Map<string, number>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = monotonicMs) {
    this.#nowMs = nowMs;
  }

  async whole<T>(asked: Asked<T>): Promise<T> {
    return (await this.#ask(this.#known(asked))).reply;
  }

  /** A refusal may also be the first event of a stream. */
  async stream(asked: Asked<ChatStream>): Promise<ChatStream> {
    const { reply, body } = await this.#ask(this.#known(asked));
    if (without(body, "no-reasoning-include") === undefined) return reply;
    const again = async (error: unknown) => {
      const lesser = withoutRefused(body, error);
      if (lesser === undefined) throw error;
      return (await this.#retry({ ...asked, body: lesser }, error)).reply;
    };
    return new RetriedStream(reply, again);
  }

  /** Ends: each request is smaller than the one before. */
  async #ask<T>(asked: Asked<T>): Promise<{ readonly reply: T; readonly body: JsonObject }> {
    const { body, send } = asked;
    try {
      return { reply: await send(body), body };
    } catch (error) {
      const lesser = withoutRefused(body, error);
      if (lesser === undefined) throw error;
      return await this.#retry({ ...asked, body: lesser }, error);
    }
  }

  async #retry<T>(asked: Asked<T>, error: unknown) {
    const answer = await this.#ask(asked);
    if (remedyIn(error) === "no-reasoning-include") this.#note(asked.model);
    return answer;
  }

  #known<T>(asked: Asked<T>): Asked<T> {
    const notedAtMs = this.#unsupported.get(asked.model);
    if (notedAtMs === undefined || this.#nowMs() - notedAtMs > longestMs) return asked;
    return { ...asked, body: without(asked.body, "no-reasoning-include") ?? asked.body };
  }

  #note(model: string): void {
    this.#unsupported.delete(model);
    const [oldest] = this.#unsupported.keys();
    if (this.#unsupported.size >= mostModels && oldest !== undefined)
      this.#unsupported.delete(oldest);
    this.#unsupported.set(model, this.#nowMs());
  }
}

/** Goes on with another stream if this one fails before its first part. */
class RetriedStream implements ChatStream {
  #stream: ChatStream;
  #again: ((error: unknown) => Promise<ChatStream>) | undefined;
  #isCanceled = false;

  constructor(stream: ChatStream, again: (error: unknown) => Promise<ChatStream>) {
    this.#stream = stream;
    this.#again = again;
  }

  async read(): Promise<readonly ChatPart[] | undefined> {
    const again = this.#again;
    if (again === undefined) return this.#stream.read();
    try {
      const parts = await this.#stream.read();
      if (parts === undefined || parts.length > 0) this.#again = undefined;
      return parts;
    } catch (error) {
      this.#again = undefined;
      this.#stream = await again(error);
      if (this.#isCanceled) this.#stream.cancel();
      return this.#stream.read();
    }
  }

  cancel(): void {
    this.#isCanceled = true;
    this.#stream.cancel();
  }
}

/** Undefined: it was refused for another reason, or has nothing to leave out. */
function withoutRefused(body: JsonObject, error: unknown): JsonObject | undefined {
  const remedy = remedyIn(error);
  return remedy === undefined ? undefined : without(body, remedy);
}

/**
 * Other items need no reasoning beside them: a vendor requires it only of items that it knows by id,
 * and ids are not sent. A compaction stays: without it, the conversation would be another one.
 */
function without(body: JsonObject, remedy: UpstreamRemedy): JsonObject | undefined {
  const { input, include } = body;
  if (remedy !== "no-encrypted-reasoning" && remedy !== "no-reasoning-include") return undefined;
  const hasReasoning = Array.isArray(input) && input.some(isEncrypted);
  const isWanted =
    remedy === "no-reasoning-include" && Array.isArray(include) && include.includes(wanted);
  if (!hasReasoning && !isWanted) return undefined;
  const others = isWanted ? include.filter((name) => name !== wanted) : [];
  return {
    ...body,
    ...(hasReasoning ? { input: input.filter((item) => !isEncrypted(item)) } : {}),
    ...(isWanted ? { include: others.length === 0 ? undefined : others } : {}),
  };
}

const isEncrypted = (item: Json) =>
  isJsonObject(item) &&
  item["type"] === "reasoning" &&
  typeof item["encrypted_content"] === "string";
