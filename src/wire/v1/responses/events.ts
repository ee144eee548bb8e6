import { ApiError } from "../../../base/errors.ts";
import {
  type ChatPart,
  type FinishReason,
  isJsonObject,
  isRawThought,
  type Json,
  type JsonObject,
  wordsOf,
} from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import { toOpaque } from "../carried.ts";
import { keepAliveComment } from "../chat/chunk-writer.ts";
import { ToolBlocks, type ToolPiece } from "../chat/tool-blocks.ts";
import { callIdPrefix } from "../chat/tool-pieces.ts";
import type { ChatWriter, ReplyIdentity } from "../dialect.ts";
import { Said } from "../said.ts";
import { EventLog } from "./event-log.ts";
import { NativeEvents } from "./native-events.ts";
import { OpenCall, OpenMessage, OpenReasoning } from "./open-items.ts";
import type { ResponseOrder } from "./order.ts";
import {
  type ItemStatus,
  itemId,
  reasoningItem,
  toAnnotations,
  toLogprobs,
} from "./output-items.ts";
import { type KeepReply, kept } from "./reply.ts";
import { type Outcome, outcomeOf, ResponseObject } from "./response-object.ts";

/** About what a waiting piece takes in memory, besides its text. */
const waitingChars = 128;

/**
 * Turns parts into the events of a response, in OpenAI's order: every item is added, sent in pieces
 * and done. Then comes the whole response, which is held until the call is settled. Events of an
 * upstream that speaks this dialect pass through.
 */
export class ResponseEventWriter implements ChatWriter {
  readonly keepAlive = keepAliveComment;
  readonly choices = 1;
  readonly said = new Said();
  reasoningChars = 0;
  readonly #identity: ReplyIdentity;
  readonly #order: ResponseOrder;
  readonly #keep: KeepReply | undefined;
  readonly #log = new EventLog();
  readonly #response: ResponseObject;
  #native: NativeEvents | undefined;
  #extras: JsonObject | undefined;
  #tools: ToolBlocks | undefined;
  #reasoning: OpenReasoning | undefined;
  #message: OpenMessage | undefined;
  #called: OpenCall | undefined;
  /** Pieces that came in the middle of a call. */
  #waiting: (() => string)[] = [];
  /** Signed thoughts, and signatures of calls, that no item has taken yet. */
  #details: JsonObject[] = [];
  #signsThoughts = false;
  #signed: Record<string, JsonObject> | undefined;
  #extra: JsonObject | undefined;
  #finish: FinishReason | undefined;
  #hasBegun = false;

  constructor(identity: ReplyIdentity, order: ResponseOrder, keep: KeepReply | undefined) {
    this.#identity = identity;
    this.#order = order;
    this.#keep = keep;
    this.#response = new ResponseObject(identity, order);
  }

  set extras(extras: JsonObject | undefined) {
    if (extras !== undefined) this.#extras = extras;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isNative(): boolean {
    return this.#native !== undefined;
  }

  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  write(part: ChatPart): string {
    switch (part.type) {
      case "text-delta":
        return part.index === 0 ? this.#text(part.text, part.isPlain === true, []) : "";
      case "delta":
        if (part.isSigned === true && part.index === 0) this.#signsThoughts = true;
        return part.index === 0
          ? this.#signedThought(part.signedThought) + this.#delta(part.delta, part.logprobs)
          : "";
      case "reasoning-detail":
        if (part.index === 0) this.#details.push(part.detail);
        return this.#begin();
      case "native": {
        this.#hasBegun = true;
        this.said.add(part.words);
        if (part.isReasoning === true) this.reasoningChars += part.words.length;
        this.#native ??= new NativeEvents(this.#identity, this.#order);
        return this.#native.take(part);
      }
      case "finish":
        return part.index === 0 ? this.#end(part.reason) : "";
      case "usage":
      case "done":
        return "";
      default:
        return part satisfies never;
    }
  }

  end(usage: Usage, isCut = false): string | Promise<string> {
    if (this.#native !== undefined) {
      const native = this.#native;
      const before = isCut ? native.cut() : "";
      const response = native.toResponse(usage, isCut);
      const { store: _store, ...rest } = response;
      const last = kept(this.#keep, (store) => JSON.stringify({ ...rest, store }));
      const write = (text: string) => before + native.last(text);
      return typeof last === "string" ? write(last) : last.then(write);
    }
    const before = this.#end(isCut ? "length" : "stop");
    const outcome = outcomeOf(this.#finish ?? "stop");
    const whole = { ...outcome, output: this.#log.output, usage, extras: this.#extras };
    const name = `response.${outcome.status}`;
    const last = kept(this.#keep, (isStored) => this.#response.toJson(whole, isStored));
    const write = (text: string) => before + this.#log.event(name, `"response":${text}`);
    return typeof last === "string" ? write(last) : last.then(write);
  }

  /** The error, and the failed response: some clients read the first, others the second. */
  fail(error: ApiError): string {
    const { code, message, param } = error;
    const log = this.#native?.log ?? this.#log;
    const fields = JSON.stringify({ code, message, param }).slice(1, -1);
    const output = this.#native === undefined ? this.#log.output : [];
    const outcome: Outcome = { status: "failed", output, error };
    const failed = this.#response.toJson(outcome, false);
    return log.event("error", fields) + log.event("response.failed", `"response":${failed}`);
  }

  #begin(): string {
    if (this.#hasBegun) return "";
    this.#hasBegun = true;
    const outcome: Outcome = { status: "in_progress", output: [] };
    const response = `"response":${this.#response.toJson(outcome, this.#order.isStored)}`;
    return (
      this.#log.event("response.created", response) +
      this.#log.event("response.in_progress", response)
    );
  }

  #text(text: string, isPlain: boolean, logprobs: readonly Json[]): string {
    if (this.#finish !== undefined) return "";
    if (text === "") return this.#begin();
    this.said.add(text);
    return this.#speak(text, isPlain, logprobs);
  }

  #speak(text: string, isPlain: boolean, logprobs: readonly Json[]): string {
    const open = this.#message;
    if (open !== undefined) return open.addText(text, isPlain, logprobs);
    if (this.#isWithinCall) return this.#wait(text, () => this.#speak(text, isPlain, logprobs));
    return this.#begin() + this.#inMessage((message) => message.addText(text, isPlain, logprobs));
  }

  #refuse(text: string): string {
    if (this.#isWithinCall) return this.#wait(text, () => this.#refuse(text));
    return this.#inMessage((message) => message.addRefusal(text));
  }

  #cite(sources: readonly JsonObject[]): string {
    if (this.#isWithinCall) return this.#wait(JSON.stringify(sources), () => this.#cite(sources));
    return this.#inMessage((message) => message.addAnnotations(sources));
  }

  #inMessage(add: (message: OpenMessage) => string): string {
    let before = "";
    if (this.#message === undefined)
      before = this.#closeReasoning() + this.#closeCall("completed") + this.#carry();
    this.#message ??= new OpenMessage(this.#log, this.#idOf("message"));
    return before + add(this.#message);
  }

  #delta(delta: JsonObject, logprobs: Json): string {
    if (this.#finish !== undefined) return "";
    this.said.add(wordsOf(delta));
    let events = this.#begin();
    const { content, refusal, tool_calls: calls, annotations, extra_content: extra } = delta;
    const thought = delta["reasoning_content"] ?? delta["reasoning"];
    if (typeof thought === "string" && thought !== "") events += this.#think(thought);
    if (typeof content === "string" && content !== "")
      events += this.#speak(content, false, toLogprobs(logprobs));
    if (typeof refusal === "string" && refusal !== "") events += this.#refuse(refusal);
    const sources = toAnnotations(annotations);
    if (sources.length > 0) events += this.#cite(sources);
    if (isJsonObject(extra)) this.#extra = extra;
    if (Array.isArray(calls) && calls.length > 0) events += this.#call(calls);
    return events;
  }

  /** The signature is sent in any case; the text only if the caller asked for a summary. */
  #signedThought(text: string | undefined): string {
    const isShown = this.#order.call.original?.showsThoughts === true;
    if (text === undefined || !isShown || this.#finish !== undefined) return "";
    this.said.add(text);
    return this.#begin() + this.#think(text);
  }

  #think(text: string): string {
    if (this.#isWithinCall) return this.#wait(text, () => this.#think(text));
    this.reasoningChars += text.length;
    let before = this.#closeMessage("completed") + this.#closeCall("completed");
    // The thought before this one is signed, so it has ended.
    if (this.#details.length > 0) before += this.#closeReasoning() + this.#carry();
    this.#reasoning ??= new OpenReasoning(this.#log, this.#idOf("reasoning"));
    return before + this.#reasoning.add(text);
  }

  #call(pieces: readonly Json[]): string {
    this.#tools ??= new ToolBlocks(callIdPrefix(this.#identity.id, 0));
    const events = this.#tell(this.#tools.take(pieces), "completed");
    return this.#waiting.length === 0 || this.#isWithinCall ? events : events + this.#catchUp();
  }

  /** `status`: of calls that end because another one begins. */
  #tell(pieces: readonly ToolPiece[], status: ItemStatus): string {
    const signed = this.#tools?.extras;
    if (this.#tools !== undefined && signed !== undefined) {
      this.#signed = Object.assign(this.#signed ?? Object.create(null), signed);
      this.#tools.extras = undefined;
    }
    let events = "";
    for (const piece of pieces) {
      if (piece.kind === "arguments") {
        events += this.#called?.add(piece.text) ?? "";
        continue;
      }
      events += this.#closeMessage("completed") + this.#closeReasoning();
      events += this.#closeCall(status) + this.#carry();
      const tool = this.#order.book.find(piece.name);
      const names = { id: this.#idOf(tool.kind), callId: piece.id };
      this.#called = new OpenCall(this.#log, tool, names);
      events += this.#called.begin();
    }
    return events;
  }

  /** Items do not overlap: what comes in the middle of a call waits until the call is complete. */
  get #isWithinCall(): boolean {
    return this.#tools !== undefined && !this.#tools.isWhole;
  }

  #wait(text: string, write: () => string): string {
    this.#log.keep(text.length + waitingChars);
    this.#waiting.push(write);
    return "";
  }

  #catchUp(): string {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting.map((write) => write()).join("");
  }

  #end(reason: FinishReason): string {
    if (this.#finish !== undefined) return "";
    this.#finish = reason;
    if (this.#native !== undefined) return "";
    if (this.#tools?.hasNameless === true)
      throw new ApiError({
        code: "upstream_error",
        message: "The model's response ended early. Try again.",
        detail: "the provider sent a tool call without a name",
      });
    let events = this.#begin();
    const status: ItemStatus =
      outcomeOf(reason).status === "completed" ? "completed" : "incomplete";
    events += this.#tell(this.#tools?.end() ?? [], status);
    this.#tools = undefined;
    events += this.#catchUp();
    // An empty answer is still a message.
    if (this.#log.items === 0) events += this.#inMessage((message) => message.begin());
    events += this.#closeReasoning() + this.#closeMessage(status) + this.#closeCall(status);
    return events + this.#carry(true);
  }

  #closeReasoning(): string {
    const open = this.#reasoning;
    if (open === undefined) return "";
    this.#reasoning = undefined;
    const details = this.#details;
    this.#details = [];
    // Also where nothing is signed: it tells whose thought it is.
    const carried = details.length === 0 ? {} : { details };
    const isRaw = !this.#signsThoughts && isRawThought(details);
    return open.end(toOpaque(this.#identity.modelId, carried), isRaw);
  }

  #closeMessage(status: ItemStatus): string {
    const open = this.#message;
    this.#message = undefined;
    return open?.end(status) ?? "";
  }

  #closeCall(status: ItemStatus): string {
    const open = this.#called;
    this.#called = undefined;
    return open?.end(status) ?? "";
  }

  /** Signatures that no item has taken get an item of their own. */
  #carry(isLast = false): string {
    const wantsAll = this.#order.wantsEncrypted || this.#order.isStored;
    const extra = isLast && wantsAll ? this.#extra : undefined;
    const details = this.#details;
    const calls = this.#signed;
    if (details.length === 0 && calls === undefined && extra === undefined) return "";
    this.#details = [];
    this.#signed = undefined;
    const opaque = toOpaque(this.#identity.modelId, {
      ...(details.length === 0 ? {} : { details }),
      ...(calls === undefined ? {} : { calls }),
      ...(extra === undefined ? {} : { extra }),
    });
    const id = this.#idOf("reasoning");
    const at = this.#log.nextItem();
    const added = this.#log.added(at, reasoningItem({ id, text: "", opaque: undefined }));
    return added + this.#log.done(at, reasoningItem({ id, text: "", opaque }));
  }

  #idOf(kind: Parameters<typeof itemId>[0]): string {
    return itemId(kind, this.#identity.id, this.#log.items);
  }
}
