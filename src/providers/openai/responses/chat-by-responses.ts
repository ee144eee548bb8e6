import { monotonicMs } from "../../../base/clock.ts";
import { ApiError, type UpstreamRemedy } from "../../../base/errors.ts";
import type { ChatCall, ChatResult, ChatStream } from "../../../call/chat.ts";
import { reasoningWishOf } from "../../../call/reasoning-wish.ts";
import type { ProviderCall } from "../../contract.ts";
import { isUnserved } from "../../kit/failure.ts";
import { toBody } from "../../kit/http.ts";
import { remedyIn } from "../../kit/remedy.ts";
import { readJson, type UpstreamReply } from "../../kit/reply.ts";
import { wholeAsStream } from "../chat-reply.ts";
import type { FieldRule } from "../field-rules.ts";
import { fromResponseOfChat } from "./reply.ts";
import { toResponseRequest } from "./request.ts";
import { ChatOfResponseStream } from "./stream.ts";

export interface ChatByResponsesOptions {
  readonly name: string;
  /** Of the encrypted reasoning that this server can read. */
  readonly mark: string;
  readonly rules: readonly FieldRule[];
  readonly takesUrls: boolean;
  readonly send: (
    path: string,
    body: string,
    options: ProviderCall<ChatCall>,
  ) => Promise<UpstreamReply>;
  readonly nowMs?: () => number;
}

type Call = ProviderCall<ChatCall>;

/** Asked again after an hour: a vendor may have changed what it serves. */
const longestMs = 3_600_000;
const mostModels = 256;

interface Learned {
  readonly remedies: Set<UpstreamRemedy>;
  readonly atMs: number;
}

/**
 * Chats that a vendor serves only as Responses. The vendor's refusals show which ones these are: the
 * same call is sent there, and later calls like it go there at once. A refusal is free, and comes before
 * anything is delivered. Belongs to one provider as it is set up.
 */
export class ChatByResponses {
  readonly #options: ChatByResponsesOptions;
  readonly #nowMs: () => number;
  /** By the upstream's name of the model. */
  readonly #learned = new Map<string, Learned>();

  constructor(options: ChatByResponsesOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? monotonicMs;
  }

  /** Whether calls like this were refused as chat completions. */
  isFor({ call, target }: Call): boolean {
    if (this.#learned.size === 0) return false;
    const remedies = this.#remediesOf(target.model);
    if (remedies === undefined) return false;
    if (remedies.has("responses")) return true;
    return remedies.has("responses-for-tools") && hasTools(call) && !isUnreasoned(call);
  }

  /** `refusal`: what the vendor answered to the chat completion; without a remedy it is thrown. */
  async whole(options: Call, refusal?: unknown): Promise<ChatResult> {
    return this.#read(await this.#post(options, { isStreamed: false, refusal }), options);
  }

  async stream(options: Call, refusal?: unknown): Promise<ChatStream> {
    const { name: provider, mark } = this.#options;
    const reply = await this.#post(options, { isStreamed: true, refusal });
    const type = (reply.headers.get("content-type") ?? "").toLowerCase();
    if (!type.startsWith("text/event-stream"))
      return wholeAsStream(await this.#read(reply, options));
    return new ChatOfResponseStream({ provider, mark, reply, signal: options.signal });
  }

  async #read(reply: UpstreamReply, { signal }: Call): Promise<ChatResult> {
    const { name: provider, mark } = this.#options;
    return fromResponseOfChat(await readJson(reply, { provider, signal }), { provider, mark });
  }

  async #post(
    options: Call,
    { isStreamed, refusal }: { readonly isStreamed: boolean; readonly refusal: unknown },
  ): Promise<UpstreamReply> {
    const { name: _name, nowMs: _nowMs, send, ...terms } = this.#options;
    const { call, target } = options;
    const { model } = target;
    const found: UpstreamRemedy[] = [];
    if (refusal !== undefined) {
      const remedy = remedyIn(refusal);
      if (remedy !== "responses" && remedy !== "responses-for-tools") throw refusal;
      found.push(remedy);
    }
    const applied = new Set(this.#remediesOf(model));
    for (;;) {
      const form = {
        hasEncrypted:
          !applied.has("no-encrypted-reasoning") && !applied.has("no-reasoning-include"),
        hasInclude: !applied.has("no-reasoning-include"),
        hasSummary: !applied.has("no-reasoning-summary"),
      };
      const body = toBody(toResponseRequest(call, { ...terms, model, form, isStreamed }));
      try {
        const reply = await send("/responses", body, options);
        this.#learn(model, found);
        return reply;
      } catch (error) {
        const remedy = remedyIn(error);
        // An older server, or a model that only completes: what it said first stands.
        if (refusal !== undefined && error instanceof ApiError && isUnserved(error)) throw refusal;
        if (remedy === undefined || remedy.startsWith("responses") || applied.has(remedy))
          throw error;
        applied.add(remedy);
        found.push(remedy);
      }
    }
  }

  #remediesOf(model: string): ReadonlySet<UpstreamRemedy> | undefined {
    const known = this.#learned.get(model);
    if (known === undefined || this.#nowMs() - known.atMs <= longestMs) return known?.remedies;
    this.#learned.delete(model);
    return undefined;
  }

  /** Only what has helped. */
  #learn(model: string, found: readonly UpstreamRemedy[]): void {
    // That is of one conversation, and not of the model.
    const lasting = found.filter((remedy) => remedy !== "no-encrypted-reasoning");
    if (lasting.length === 0) return;
    const known = this.#learned.get(model);
    const [oldest] = this.#learned.keys();
    if (known === undefined && this.#learned.size >= mostModels && oldest !== undefined)
      this.#learned.delete(oldest);
    const { remedies, atMs } = known ?? { remedies: new Set(), atMs: this.#nowMs() };
    for (const remedy of lasting) remedies.add(remedy);
    this.#learned.set(model, { remedies, atMs });
  }
}

function hasTools({ options: { tools } }: ChatCall): boolean {
  return Array.isArray(tools) && tools.length > 0;
}

/** Without reasoning, models take tools in chat completions. */
const isUnreasoned = ({ options }: ChatCall) => reasoningWishOf(options)?.kind === "off";
