import { isJsonObject, type Json, type JsonObject, thoughtIn } from "../../../call/chat.ts";
import type { Usage } from "../../../call/usage.ts";
import { type Carried, toOpaque } from "../carried.ts";
import { callIdPrefix, toWholeCalls } from "../chat/tool-pieces.ts";
import type { ReplyIdentity, WholeReply } from "../dialect.ts";
import type { ResponseOrder } from "./order.ts";
import {
  callItem,
  type ItemStatus,
  itemId,
  messageItem,
  reasoningItem,
  refusalPart,
  textPart,
  toAnnotations,
  toLogprobs,
} from "./output-items.ts";
import { outcomeOf, ResponseObject, toEcho, toResponseUsage } from "./response-object.ts";
import { withOwnIds } from "./stored-ids.ts";

/** Keeps a reply for later requests; false: it was not kept, which the reply then says. */
export type KeepReply = (reply: JsonObject) => Promise<boolean>;

/** A whole reply as JSON; a promise where it is stored first. */
export function toResponseReply(
  { identity, order, result, usage }: WholeReply<ResponseOrder>,
  keep: KeepReply | undefined,
): string | Promise<string> {
  const { native } = result;
  if (native !== undefined) {
    const response = toOwnResponse(native, { identity, order, usage });
    return kept(keep, (isStored) => JSON.stringify({ ...response, store: isStored }));
  }
  const [choice] = result.choices;
  const outcome = outcomeOf(choice?.finishReason ?? "stop");
  const output = choice === undefined ? [] : toOutput(choice, { identity, order, ...outcome });
  const response = new ResponseObject(identity, order);
  const whole = { ...outcome, output, usage, extras: result.extras };
  return kept(keep, (isStored) => response.toJson(whole, isStored));
}

/** Stored before it goes out, and sent as not stored where that failed. */
export function kept(
  keep: KeepReply | undefined,
  write: (isStored: boolean) => string,
): string | Promise<string> {
  if (keep === undefined) return write(false);
  const text = write(true);
  return keep(JSON.parse(text)).then((isKept) => (isKept ? text : write(false)));
}

interface NativeOptions {
  readonly identity: ReplyIdentity;
  readonly order: ResponseOrder;
  readonly usage: Usage | undefined;
}

/** A vendor's own object, with what this gateway has changed on the way. */
export function toOwnResponse(
  native: JsonObject,
  { identity, order, usage }: NativeOptions,
): JsonObject {
  const { id, model, createdS } = identity;
  const echo = toEcho(order);
  const own = order.isStored ? withOwnIds(native, id) : native;
  return {
    ...own,
    id,
    created_at: createdS,
    model,
    ...(usage === undefined ? {} : { usage: toCounted(native["usage"], usage) }),
    instructions: echo["instructions"],
    max_output_tokens: echo["max_output_tokens"],
    metadata: echo["metadata"],
    previous_response_id: echo["previous_response_id"],
    user: echo["user"],
    store: order.isStored,
  };
}

/** The vendor's own count with all of its details, unless it is ours. */
function toCounted(told: Json | undefined, usage: Usage): JsonObject {
  return usage.estimated || !isJsonObject(told) ? toResponseUsage(usage) : told;
}

interface OutputOptions {
  readonly identity: ReplyIdentity;
  readonly order: ResponseOrder;
  readonly status: string;
}

/** The items of a message, in the order in which a model makes them. */
function toOutput(
  { message, logprobs }: { readonly message: JsonObject; readonly logprobs: Json },
  { identity: { id }, order, status: ended }: OutputOptions,
): readonly string[] {
  const items: string[] = [];
  const status: ItemStatus = ended === "incomplete" ? "incomplete" : "completed";
  const given = message["tool_calls"];
  const calls = Array.isArray(given) ? toWholeCalls(given, callIdPrefix(id, 0)) : [];
  const add = (make: (at: number) => JsonObject) => items.push(JSON.stringify(make(items.length)));
  const isShown = order.call.original?.showsThoughts === true;
  const signed = isShown ? thoughtIn(message["reasoning_details"]) : "";
  const thought = textIn(message["reasoning_content"]) || signed;
  const opaque = toCarrier(message, calls, order.wantsEncrypted || order.isStored);
  if (thought !== "" || opaque !== undefined)
    add((at) => reasoningItem({ id: itemId("reasoning", id, at), text: thought, opaque }));
  const text = textIn(message["content"]);
  const refusal = textIn(message["refusal"]);
  const parts: JsonObject[] = [];
  if (text !== "" || (refusal === "" && calls.length === 0)) {
    const annotations = toAnnotations(message["annotations"]);
    parts.push(textPart({ text, refusal: undefined, annotations, logprobs: toLogprobs(logprobs) }));
  }
  if (refusal !== "") parts.push(refusalPart(refusal));
  if (parts.length > 0) add((at) => messageItem(itemId("message", id, at), status, parts));
  for (const call of calls) {
    const called = isJsonObject(call["function"]) ? call["function"] : {};
    const tool = order.book.find(String(called["name"]));
    add((at) =>
      callItem({
        tool,
        id: itemId(tool.kind, id, at),
        callId: String(call["id"]),
        status,
        arguments: String(called["arguments"]),
      }),
    );
  }
  return items;
}

const textIn = (value: Json | undefined) => (typeof value === "string" ? value : "");

/**
 * What vendors want back, in one opaque string. A signature of the text alone is needed by none: it
 * goes only to those who ask for such things.
 */
function toCarrier(
  { reasoning_details: given, extra_content: extra }: JsonObject,
  calls: readonly JsonObject[],
  isWanted: boolean,
): string | undefined {
  const details = Array.isArray(given) ? given.filter(isJsonObject) : [];
  const signed: Record<string, JsonObject> = {};
  for (const { id, extra_content: of } of calls) if (isJsonObject(of)) signed[String(id)] = of;
  const hasSigned = Object.keys(signed).length > 0;
  const own = isJsonObject(extra) && (isWanted || hasSigned || details.length > 0);
  if (details.length === 0 && !hasSigned && !own) return undefined;
  const carried: Carried = {
    ...(details.length > 0 ? { details } : {}),
    ...(own ? { extra } : {}),
    ...(hasSigned ? { calls: signed } : {}),
  };
  return toOpaque(carried);
}
