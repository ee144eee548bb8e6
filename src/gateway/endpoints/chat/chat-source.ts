import { ApiError } from "../../../base/errors.ts";
import type { ChatPart, ChatStream } from "../../../call/chat.ts";
import { isHollow, latestUsage, type Usage } from "../../../call/usage.ts";
import type { ChatWriter } from "../../../wire/v1/dialect.ts";
import type { ActiveCall } from "../../active-calls.ts";
import type { Charge, Measured } from "../../billing/charge.ts";
import type { StreamSource } from "../../stream-reply.ts";
import type { CallTrace } from "../../tracing.ts";
import { measured } from "./chat-money.ts";
import type { OpenedChat } from "./open-chat.ts";

export interface ChatSourceOptions {
  readonly opening: Promise<OpenedChat>;
  readonly writer: ChatWriter;
  readonly call: Pick<ActiveCall, "isFinishing" | "isReadingOn" | "hear">;
  readonly charge: Pick<Charge, "settle" | "deliver">;
  /** How long each answer may become. */
  readonly cap: number | undefined;
  /** Counts what went in and out, where the upstream has not. */
  readonly count: () => Promise<Usage>;
  /** The upstream has counted an answer that went out whole. */
  readonly onCounted?: (usage: Usage) => void;
  readonly trace?: CallTrace | undefined;
}

/**
 * Parts in, bytes of events out: one write for each packet that the upstream sent. The last write
 * waits until the receipt is durable.
 */
export class ChatSource implements StreamSource {
  readonly #options: ChatSourceOptions;
  /** The reply's head went out before the model spoke: a comment goes first. */
  startsSilent = false;
  #stream: ChatStream | undefined;
  /** What the model said before the reply began. */
  #first: readonly ChatPart[] | undefined;
  #isCancelled = false;
  #usage: Usage | undefined;
  /** How much had been said when it was last told. */
  #usageChars = 0;
  #sawDone = false;
  #isDone = false;
  /** The caller has gone: nothing is written any more. */
  #isMeasuring = false;
  #reading: Promise<readonly ChatPart[] | undefined> | undefined;

  constructor(options: ChatSourceOptions) {
    this.#options = options;
  }

  get keepAlive(): string {
    return this.#options.writer.keepAlive;
  }

  /** The model has spoken. */
  begin({ parts, first }: OpenedChat): void {
    this.#stream = parts;
    this.#first = first;
    if (this.#isCancelled) parts.cancel();
  }

  /** Nearly every packet takes the short way: one promise, no async function. */
  next(): string | undefined | Promise<string | undefined> {
    if (this.startsSilent) {
      this.startsSilent = false;
      return this.keepAlive;
    }
    if (this.#isDone || this.#isMeasuring) return undefined;
    const first = this.#takeFirst();
    if (first !== undefined) return this.#onParts(first);
    this.#reading = this.#read();
    return this.#reading.then(this.#onParts);
  }

  readonly #onParts = (
    parts: readonly ChatPart[] | undefined,
  ): string | undefined | Promise<string | undefined> => {
    const text = this.#take(parts);
    if (text === "" || parts === undefined || this.#sawDone || this.#isPastCap())
      return this.#goOn(text, parts);
    this.#options.charge.deliver();
    return text;
  };

  /** The end, a cut, or packets without news. */
  async #goOn(start: string, first: readonly ChatPart[] | undefined): Promise<string | undefined> {
    const { charge, call } = this.#options;
    let text = start;
    let parts = first;
    for (;;) {
      // Before the end is looked at: an answer that comes in one packet has a cap, too.
      if (this.#isPastCap() && !this.#isWithinByCount()) text += await this.#cut();
      else if (this.#hasEnded(parts)) text += await this.#end();
      if (text !== "") {
        charge.deliver();
        return text;
      }
      call.hear();
      if (this.#isDone || this.#isMeasuring) return undefined;
      this.#reading = this.#read();
      parts = await this.#reading;
      text = this.#take(parts);
    }
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#stream?.cancel();
    if (this.#stream === undefined)
      this.#options.opening.then(({ parts }) => parts.cancel()).catch(() => {});
  }

  fail(error: ApiError): string {
    return this.#options.writer.fail(error);
  }

  /** Whether the upstream's count covers all that was said. */
  get isCounted(): boolean {
    const { said } = this.#options.writer;
    const isCurrent = this.#usageChars === said.chars;
    return this.#usage !== undefined && isCurrent && !isHollow(this.#usage, said.chars > 0);
  }

  /** What was used until now, by a call that did not come to its end. */
  async measure(): Promise<Measured> {
    this.#isMeasuring = true;
    await this.#reading?.catch(() => {});
    await this.#readOn();
    this.#traceSaid();
    return measured(await this.#used());
  }

  /**
   * The caller has gone, and only the upstream's count tells what was used: nothing else is kept of
   * what comes. Ends with the upstream's stream, or when the call is aborted.
   */
  async #readOn(): Promise<void> {
    const { call, writer } = this.#options;
    while (call.isReadingOn || (call.isFinishing && this.#usage === undefined)) {
      const parts = await this.#read().catch(() => undefined);
      for (const part of parts ?? [])
        if (part.type === "usage") {
          this.#usage = latestUsage(this.#usage, part.usage);
          this.#usageChars = writer.said.chars;
        }
      if (parts === undefined || parts.some(({ type }) => type === "done")) return;
    }
  }

  /** What the upstream told, if that was not before its last words; else no less than what was said. */
  async #used(): Promise<Usage> {
    const told = this.#usage;
    if (told !== undefined && this.isCounted) return told;
    const counted = await this.#options.count();
    if (told === undefined) return counted;
    const isInputTold = told.inputTokens > 0;
    return {
      ...(isInputTold ? told : counted),
      outputTokens: Math.max(told.outputTokens, counted.outputTokens),
      estimated: true,
    };
  }

  #read(): Promise<readonly ChatPart[] | undefined> {
    if (this.#stream === undefined) return this.#open();
    const first = this.#takeFirst();
    return first === undefined ? this.#stream.read() : Promise.resolve(first);
  }

  #takeFirst(): readonly ChatPart[] | undefined {
    const first = this.#first;
    this.#first = undefined;
    return first;
  }

  async #open(): Promise<readonly ChatPart[]> {
    const opened = await this.#options.opening;
    if (this.#stream === undefined) this.begin(opened);
    return this.#takeFirst() ?? [];
  }

  #take(parts: readonly ChatPart[] | undefined): string {
    const { writer, call, trace } = this.#options;
    if (trace !== undefined && parts !== undefined) traceFinish(trace, parts);
    writer.extras = this.#stream?.extras;
    let text = "";
    for (const part of parts ?? []) {
      if (part.type === "usage") {
        this.#usage = latestUsage(this.#usage, part.usage);
        this.#usageChars = writer.said.chars;
      } else if (part.type === "done") this.#sawDone = true;
      else text += writer.write(part);
    }
    call.isFinishing = this.#usage === undefined && writer.isFinished;
    return text;
  }

  #hasEnded(parts: readonly ChatPart[] | undefined): boolean {
    const { writer } = this.#options;
    if (parts !== undefined && !this.#sawDone) return false;
    // Without `[DONE]`, only a finish_reason tells an end from a cut.
    const wasCut = parts === undefined ? !writer.isFinished : !writer.hasBegun;
    if (wasCut)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's response ended early. Try again.",
        detail: "the provider's stream ended without a finish event",
        upstream: { reason: "failed" },
      });
    return true;
  }

  async #end(): Promise<string> {
    const { writer, charge } = this.#options;
    const usage = await this.#used();
    this.#traceSaid();
    if (!usage.estimated) this.#options.onCounted?.(usage);
    // Written first: what an upstream left unfinished may still make it fail.
    const text = await writer.end(usage);
    await charge.settle(measured(usage));
    this.#isDone = true;
    return text;
  }

  #traceSaid(): void {
    const { trace, writer } = this.#options;
    if (trace?.hasContent === true) trace.setOutput(writer.said.text);
  }

  #isPastCap(): boolean {
    const { writer, cap } = this.#options;
    return cap !== undefined && writer.said.isPast(cap * writer.choices);
  }

  /** Long words: what the upstream counts is what it is paid for. */
  #isWithinByCount(): boolean {
    const { writer, cap = 0 } = this.#options;
    const counted = this.isCounted ? this.#usage?.outputTokens : undefined;
    return counted !== undefined && counted <= cap * writer.choices;
  }

  /** An upstream that does not keep to the cap is stopped; what was allowed is what is paid for. */
  async #cut(): Promise<string> {
    const { writer, charge, cap = 0 } = this.#options;
    this.cancel();
    const used = await this.#used();
    this.#traceSaid();
    const outputTokens = Math.min(used.outputTokens, cap * writer.choices);
    const usage = { ...used, outputTokens, estimated: true };
    const text = await writer.end(usage, true);
    await charge.settle(measured(usage));
    this.#isDone = true;
    return text;
  }
}

function traceFinish(trace: CallTrace, parts: readonly ChatPart[]): void {
  for (const part of parts) if (part.type === "finish") trace.finished(part.reason);
}
