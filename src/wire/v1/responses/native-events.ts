import { isJsonObject, type JsonObject, type NativeEvent } from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import type { ReplyIdentity } from "../dialect.ts";
import { EventLog } from "./event-log.ts";
import { dataIn, NativeItem } from "./native-item.ts";
import type { ResponseOrder } from "./order.ts";
import { toOwnResponse } from "./reply.ts";
import { StreamIds } from "./stored-ids.ts";

/** More than any answer has. */
const maxKeptChars = 32 * 1024 * 1024;

/**
 * Events of an upstream that speaks this dialect. In those with the whole response, its id, model and
 * the caller's own fields are replaced. All others pass unchanged, except for the ids of items if the
 * reply is stored.
 */
export class NativeEvents {
  readonly #identity: ReplyIdentity;
  readonly #order: ResponseOrder;
  readonly #ids: StreamIds | undefined;
  /** The response as the last event described it. */
  #response: JsonObject = {};
  #last: JsonObject | undefined;
  #lastText = "";
  /** Items that are done, as events: read only if the last event does not list them. */
  readonly #done: string[] = [];
  #doneChars = 0;
  #open: NativeItem | undefined;
  /** The item at which the stream was cut, and the log that numbers the events after it. */
  #cutItem: readonly JsonObject[] | undefined;
  #cutLog: EventLog | undefined;

  constructor(identity: ReplyIdentity, order: ResponseOrder) {
    this.#identity = identity;
    this.#order = order;
    this.#ids = order.isStored ? new StreamIds(identity.id) : undefined;
  }

  take({ text, data, words, isLast }: NativeEvent): string {
    if (data === undefined) {
      this.#open?.note(text, words);
      return this.#pass(text);
    }
    const { response, item, output_index: at, type } = data;
    if (isLast === true) {
      this.#last = data;
      return "";
    }
    if (isJsonObject(response)) {
      this.#response = response;
      const own = this.#own(response, undefined);
      return this.#pass(toText({ ...data, response: own }));
    }
    this.#ids?.learn(item, at);
    if (type === "response.output_item.done") {
      this.#open = undefined;
      this.#keepDone(text);
    } else if (type !== "response.output_item.added") this.#open?.note(text, words);
    else if (isJsonObject(item)) this.#open = new NativeItem(item, Number(at));
    return this.#pass(text);
  }

  /** Continues the upstream's own sequence numbers. */
  get log(): EventLog {
    if (this.#cutLog !== undefined) return this.#cutLog;
    const last = /"sequence_number":(\d{1,15})/.exec(this.#lastText)?.[1];
    return new EventLog(last === undefined ? 0 : Number(last) + 1);
  }

  /** Ends the item at which the stream is cut. */
  cut(): string {
    if (this.#last !== undefined || this.#open === undefined) return "";
    const { log } = this;
    const ended = this.#open.end(log);
    if (ended === undefined) return "";
    this.#cutLog = log;
    this.#cutItem = [ended.item];
    return this.#pass(ended.events);
  }

  toResponse(usage: Usage, isCut: boolean): JsonObject {
    const last = this.#last?.["response"];
    if (isJsonObject(last)) return this.#own(last, usage);
    const details = isCut ? { reason: "max_output_tokens" } : null;
    const response = {
      ...this.#response,
      status: isCut ? "incomplete" : "completed",
      incomplete_details: details,
      output: [...this.#done.flatMap(itemIn), ...(this.#cutItem ?? [])],
    };
    return this.#own(response, usage);
  }

  /** The last event, with the response as JSON. */
  last(response: string): string {
    const status = isJsonObject(this.#last?.["response"]) ? this.#last["type"] : undefined;
    const name = typeof status === "string" ? status : "response.incomplete";
    return this.log.event(name, `"response":${response}`);
  }

  #own(response: JsonObject, usage: Usage | undefined): JsonObject {
    const { isStored } = this.#order;
    const own = { identity: this.#identity, order: this.#order, usage, isStored };
    return toOwnResponse(response, own);
  }

  #pass(text: string): string {
    this.#lastText = text;
    return this.#ids === undefined ? text : this.#ids.replace(text);
  }

  #keepDone(text: string): void {
    this.#doneChars += text.length;
    if (this.#doneChars <= maxKeptChars) this.#done.push(text);
  }
}

const toText = (data: JsonObject) =>
  `event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`;

function itemIn(event: string): JsonObject[] {
  const { item } = dataIn(event);
  return isJsonObject(item) ? [item] : [];
}
