import {
  isJsonObject,
  isRawThought,
  type Json,
  type JsonObject,
  thoughtIn,
} from "../../../call/chat.ts";
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
import { outcomeOf, ResponseObject, toResponseUsage, withRequired } from "./response-object.ts";
import { withOwnIds } from "./stored-ids.ts";

/** Stores a reply; false: it was not stored, and the reply says `store: false`. */
export type KeepReply = (reply: JsonObject) => Promise<boolean>;

/** A whole reply as JSON; a promise if it is stored first. */
export function toResponseReply(
  { identity, order, result, usage }: WholeReply<ResponseOrder>,
  keep: KeepReply | undefined,
): string | Promise<string> {
  const { native } = result;
  if (native !== undefined) {
    return kept(keep, (isStored) =>
      JSON.stringify(toOwnResponse(native, { identity, order, usage, isStored })),
    );
  }
  const [choice] = result.choices;
  const outcome = outcomeOf(choice?.finishReason ?? "stop");
  const output = choice === undefined ? [] : toOutput(choice, { identity, order, ...outcome });
  const response = new ResponseObject(identity, order);
  const whole = { ...outcome, output, usage, extras: result.extras };
  return kept(keep, (isStored) => response.toJson(whole, isStored));
}

/** Stores a reply before it is sent. If that fails, it is sent with `store: false`. */
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
  readonly isStored: boolean;
}

/** A vendor's own object, with the fields that this gateway replaces. */
export function toOwnResponse(
  native: JsonObject,
  { identity, order, usage, isStored }: NativeOptions,
): JsonObject {
  const { id, model, createdS } = identity;
  const { request } = order;
  const own = order.isStored ? withOwnIds(native, id) : native;
  return {
    ...withRequired(own, identity),
    id,
    created_at: createdS,
    model,
    usage: usage === undefined ? (native["usage"] ?? null) : toCounted(native["usage"], usage),
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: (request.metadata ?? {}) as JsonObject,
    previous_response_id: request.previous_response_id ?? null,
    user: request.user ?? null,
    store: isStored,
  };
}

/** The vendor's own usage with all of its details, unless the gateway counted. */
function toCounted(native: Json | undefined, usage: Usage): JsonObject {
  if (usage.estimated || !isJsonObject(native)) return toResponseUsage(usage);
  const { input_tokens_details: input, output_tokens_details: output } = native;
  if (isJsonObject(input) && isJsonObject(output)) return native;
  const own = toResponseUsage(usage);
  return {
    ...own,
    ...native,
    input_tokens_details: isJsonObject(input) ? input : own["input_tokens_details"],
    output_tokens_details: isJsonObject(output) ? output : own["output_tokens_details"],
  };
}

interface OutputOptions {
  readonly identity: ReplyIdentity;
  readonly order: ResponseOrder;
  readonly status: string;
}

/** The items of a message, in the order in which models write them. */
function toOutput(
  { message, logprobs }: { readonly message: JsonObject; readonly logprobs: Json },
  { identity: { id, modelId }, order, status: ended }: OutputOptions,
): readonly string[] {
  const items: string[] = [];
  const status: ItemStatus = ended === "incomplete" ? "incomplete" : "completed";
  const given = message["tool_calls"];
  const calls = Array.isArray(given) ? toWholeCalls(given, callIdPrefix(id, 0)) : [];
  const isShown = order.call.original?.showsThoughts === true;
  const signed = isShown ? thoughtIn(message["reasoning_details"]) : "";
  const thought = textIn(message["reasoning_content"]) || signed;
  const carried = toCarrier(message, calls, order.wantsEncrypted || order.isStored);
  if (thought !== "" || carried !== undefined) {
    // Also where nothing is signed: it tells whose thought it is.
    const opaque = toOpaque(modelId, carried ?? {});
    const isRaw = thought !== "" && isRawThought(carried?.details ?? []);
    items.push(reasoningItem({ id: itemId("reasoning", id, 0), text: thought, isRaw, opaque }));
  }
  const text = textIn(message["content"]);
  const refusal = textIn(message["refusal"]);
  const parts: string[] = [];
  if (text !== "" || (refusal === "" && calls.length === 0)) {
    const annotations = toAnnotations(message["annotations"]);
    const said = { text: JSON.stringify(text), annotations, logprobs: toLogprobs(logprobs) };
    parts.push(textPart(said));
  }
  if (refusal !== "") parts.push(refusalPart(JSON.stringify(refusal)));
  if (parts.length > 0) items.push(messageItem(itemId("message", id, items.length), status, parts));
  for (const call of calls) {
    const called = isJsonObject(call["function"]) ? call["function"] : {};
    const tool = order.book.find(String(called["name"]));
    items.push(
      callItem({
        tool,
        id: itemId(tool.kind, id, items.length),
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
 * Everything that vendors want back, for one opaque string. No vendor needs the signature of a text
 * without calls, so it is added only if the caller asks for encrypted content.
 */
function toCarrier(
  { reasoning_details: given, extra_content: extra }: JsonObject,
  calls: readonly JsonObject[],
  isWanted: boolean,
): Carried | undefined {
  const details = Array.isArray(given) ? given.filter(isJsonObject) : [];
  const signed: Record<string, JsonObject> = {};
  for (const { id, extra_content: of } of calls) if (isJsonObject(of)) signed[String(id)] = of;
  const hasSigned = Object.keys(signed).length > 0;
  const own = isJsonObject(extra) && (isWanted || hasSigned || details.length > 0);
  if (details.length === 0 && !hasSigned && !own) return undefined;
  return {
    ...(details.length > 0 ? { details } : {}),
    ...(own ? { extra } : {}),
    ...(hasSigned ? { calls: signed } : {}),
  };
}
