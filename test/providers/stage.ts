/** A provider in front of a fake vendor, and what is heard of its answers, in one form for all. */

import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  type ChatCall,
  type ChatPart,
  type ChatResult,
  type ChatStream,
  isJsonObject,
  type JsonObject,
} from "../../src/call/chat.ts";
import { latestUsage, type Usage } from "../../src/call/usage.ts";
import type { Provider, ProviderCall } from "../../src/providers/contract.ts";
import type { DialerOptions } from "../../src/providers/kit/dial.ts";
import { type Framing, httpReply, type Recording, toBuffer } from "../fake/http/reply.ts";
import type { Reply } from "../fake/script.ts";
import { type FakeUpstream, type RecordedRequest, startFakeUpstream } from "../fake/upstream.ts";
import type { Dialect, VendorReply } from "./dialect.ts";

/** The operator's name for it: it may be told to the operator, never to a caller. */
export const providerName = "upstream-of-the-operator";

type Said = VendorReply | Reply;

export class Stage {
  readonly dialect: Dialect;
  #upstream: FakeUpstream | undefined;
  #provider: Provider | undefined;
  #calls: RecordedRequest[] = [];
  #waiters: ((request: RecordedRequest) => void)[] = [];

  /** What goes through a proxy is sent by the runtime's client, even if none is set. */
  constructor(dialect: Dialect, network: Pick<DialerOptions, "usesProxy"> = {}) {
    this.dialect = dialect;
    beforeAll(async () => {
      this.#upstream = await startFakeUpstream();
      this.#provider = dialect.create({ origin: this.origin, name: providerName, network });
    });
    afterAll(() => this.upstream.stop());
    beforeEach(() => {
      this.upstream.reset();
      this.#calls = [];
      this.#waiters = [];
    });
  }

  get upstream(): FakeUpstream {
    if (this.#upstream === undefined) throw new Error("the fake has not begun");
    return this.#upstream;
  }

  get provider(): Provider {
    if (this.#provider === undefined) throw new Error("the fake has not begun");
    return this.#provider;
  }

  get origin(): string {
    return new URL(this.upstream.baseUrl).origin;
  }

  /** Requests to the vendor, a sign-in left out. */
  get calls(): readonly RecordedRequest[] {
    return this.#calls;
  }

  /** The next request that arrives, a sign-in left out: ask before you send. */
  nextCall(): Promise<RecordedRequest> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** What every following request gets. */
  answer(said: Said | ((request: RecordedRequest) => Said)): void {
    this.upstream.replyWith((request) => {
      const beside = this.dialect.beside?.(request);
      if (beside !== undefined) return framed(beside);
      this.#calls.push(request);
      this.#waiters.shift()?.(request);
      const reply = typeof said === "function" ? said(request) : said;
      return isVendorReply(reply) ? framed(reply) : reply;
    });
  }

  async chat(call: ChatCall, extra: CallExtra = {}): Promise<Heard> {
    const { provider } = this;
    if (provider.chat === undefined) throw new Error("the provider has no chat");
    return fromResult(await provider.chat(this.#options(call, extra)));
  }

  streamChat(call: ChatCall, extra: CallExtra = {}): Promise<ChatStream> {
    const { provider } = this;
    if (provider.streamChat === undefined) throw new Error("the provider streams no chat");
    return provider.streamChat(this.#options(call, extra));
  }

  /** A stream to its end; throws what it throws. */
  async hearStream(call: ChatCall, extra: CallExtra = {}): Promise<Heard> {
    const { heard, failure } = await this.listen(call, extra);
    if (failure !== undefined) throw failure;
    return heard;
  }

  /** A stream to its end, with what came before it failed. */
  async listen(call: ChatCall, extra: CallExtra = {}): Promise<Listened> {
    const ear = new Ear();
    try {
      await ear.drain(await this.streamChat(call, extra));
    } catch (failure) {
      return { heard: ear.heard(), failure };
    }
    return { heard: ear.heard(), failure: undefined };
  }

  #options(call: ChatCall, extra: CallExtra): ProviderCall<ChatCall> {
    const signal = extra.signal ?? new AbortController().signal;
    const onAccepted = extra.onAccepted ?? (() => {});
    return { call, target: { model: this.dialect.model }, signal, onAccepted };
  }
}

export type CallExtra = Partial<Pick<ProviderCall<ChatCall>, "signal" | "onAccepted">>;

export interface Listened {
  readonly heard: Heard;
  readonly failure: unknown;
}

export function isVendorReply(reply: Said): reply is VendorReply {
  return typeof reply === "object" && "packets" in reply;
}

/** Streams go in chunks, a packet each; what has one packet, or none, with its length. */
export function framed(
  reply: VendorReply,
  options: { readonly framing?: Framing; readonly gzip?: boolean } = {},
): Recording {
  const { gzip = false, framing = reply.packets.length > 1 ? "chunked" : "length" } = options;
  const packing = gzip ? { "content-encoding": "gzip" } : {};
  return httpReply({
    status: reply.status ?? 200,
    headers: { ...reply.headers, ...packing },
    body: gzip ? [gzipSync(bodyOf(reply))] : reply.packets,
    framing,
  });
}

export function bodyOf(reply: VendorReply): Buffer {
  return Buffer.concat(reply.packets.map(toBuffer));
}

/** How many packets hold the stream up to these words. */
export function packetsUntil({ packets }: VendorReply, words: string): number {
  const at = packets.findIndex((packet) => toBuffer(packet).includes(words));
  if (at === -1) throw new Error(`no packet holds ${words}`);
  return at + 1;
}

export interface HeardCall {
  readonly name: string;
  readonly arguments: unknown;
}

/** What the callers of a provider learn, of a whole reply or of a stream. */
export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly HeardCall[];
  readonly ids: readonly string[];
  readonly finish: string | undefined;
  readonly usage: Usage | undefined;
  readonly done: boolean;
}

function fromResult({ choices, usage }: ChatResult): Heard {
  const [choice] = choices;
  if (choice === undefined || choices.length !== 1) throw new Error(`${choices.length} choices`);
  const ear = new Ear("whole");
  const { message } = choice;
  if (message["role"] !== "assistant") throw new Error("the message has no role");
  if (typeof message["content"] !== "string" && message["content"] !== null)
    throw new Error("the content is neither text nor null");
  ear.hear({ type: "delta", index: choice.index, delta: message, logprobs: null });
  ear.hear({ type: "finish", index: choice.index, reason: choice.finishReason });
  if (usage !== undefined) ear.hear({ type: "usage", usage });
  ear.hear({ type: "done" });
  return ear.heard();
}

interface CallInParts {
  readonly id: string;
  readonly name: string;
  text: string;
}

/** Puts parts together as a client of ours does, and refuses what a client could not read. */
export class Ear {
  #text = "";
  #reasoning = "";
  #finish: string | undefined;
  #usage: Usage | undefined;
  #done = false;
  readonly #calls = new Map<number, CallInParts>();
  readonly #form: "whole" | "stream";

  constructor(form: "whole" | "stream" = "stream") {
    this.#form = form;
  }

  async drain(stream: ChatStream): Promise<void> {
    for (;;) {
      const parts = await stream.read();
      if (parts === undefined) return;
      for (const part of parts) this.hear(part);
    }
  }

  /** No further than the batch with the first words. */
  async hearText(stream: ChatStream): Promise<void> {
    while (this.#text === "") {
      const parts = await stream.read();
      if (parts === undefined) throw new Error("the stream ended before its first word");
      for (const part of parts) this.hear(part);
    }
  }

  hear(part: ChatPart): void {
    if (this.#done) throw new Error(`${part.type} behind the end`);
    switch (part.type) {
      case "text-delta":
        this.#say(part.index, part.text);
        return;
      case "delta":
        this.#take(part.index, part.delta);
        return;
      case "finish":
        if (this.#finish !== undefined) throw new Error("a second finish");
        this.#finish = part.reason;
        return;
      case "usage":
        this.#usage = latestUsage(this.#usage, part.usage);
        return;
      case "done":
        this.#done = true;
        return;
      case "reasoning-detail":
        this.#take(part.index, { reasoning_details: [part.detail] });
        return;
      case "native":
        throw new Error("an event of another dialect");
      default:
        part satisfies never;
    }
  }

  heard(): Heard {
    const calls = [...this.#calls].toSorted(([one], [other]) => one - other);
    return {
      text: this.#text,
      reasoning: this.#reasoning,
      calls: calls.map(([, { name, text }]) => ({ name, arguments: parsed(text) })),
      ids: calls.map(([, { id }]) => id),
      finish: this.#finish,
      usage: this.#usage,
      done: this.#done,
    };
  }

  #say(index: number, text: string): void {
    if (index !== 0) throw new Error(`choice ${index} was not asked for`);
    this.#text += text;
  }

  #take(index: number, { content, reasoning_content: reasoning, tool_calls: calls }: JsonObject) {
    if (typeof content === "string") this.#say(index, content);
    if (typeof reasoning === "string") this.#reasoning += reasoning;
    if (!Array.isArray(calls)) return;
    for (const [place, call] of calls.entries()) {
      if (!isJsonObject(call)) throw new Error("a tool call that is no object");
      const index = this.#form === "whole" ? place : call["index"];
      if (typeof index !== "number") throw new Error("a piece of a tool call without its place");
      this.#takeCall(index, call);
    }
  }

  #takeCall(place: number, { id, type, function: called }: JsonObject): void {
    const { name, arguments: text } = isJsonObject(called) ? called : {};
    const known = this.#calls.get(place);
    const piece = typeof text === "string" ? text : "";
    if (known !== undefined) {
      known.text += piece;
      return;
    }
    if (typeof id !== "string" || id === "" || type !== "function")
      throw new Error("a tool call begins without its id or type");
    if (typeof name !== "string" || name === "") throw new Error("a tool call without a name");
    this.#calls.set(place, { id, name, text: piece });
  }
}

/** Clients parse it; what is cut in the middle stays text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The client has left the call, before its reply was whole. */
export async function expectLetGo(arriving: RecordedRequest | Promise<RecordedRequest>) {
  const request = await arriving;
  await request.closed;
  expect(request.abortedByClient).toBe(true);
  return request;
}
