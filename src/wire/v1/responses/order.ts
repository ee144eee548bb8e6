import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { checkNested } from "../chat/call.ts";
import type { ChatOrder, ReadOptions } from "../dialect.ts";
import { jsonBytes, otherBytes } from "../other-bytes.ts";
import { fieldError, reader } from "../validate.ts";
import { encryptedReasoning, passedOn, toNativeBody } from "./native-body.ts";
import { type ResponseRequest, responseRequest } from "./request.ts";
import { ItemReader, type Place } from "./to-messages.ts";
import { asksForSummary, toOptions } from "./to-options.ts";
import { ToolBook } from "./tool-book.ts";

const readRequest = reader<ResponseRequest>(responseRequest);

/** A request for a response. */
export interface ResponseOrder extends ChatOrder {
  readonly request: ResponseRequest;
  /** The items of this request, without those of earlier responses. */
  readonly input: readonly JsonObject[];
  readonly book: ToolBook;
  readonly places: readonly Place[];
  /** The reply is kept for later requests. */
  readonly isStored: boolean;
  /** The caller asks for everything that vendors sign or encrypt. */
  readonly wantsEncrypted: boolean;
}

export interface OrderContext {
  /** The items of the earlier responses, if the request continues one. */
  readonly history: readonly JsonObject[];
  /** Whether replies can be stored at all. */
  readonly canStore: boolean;
}

/** Checks a body and turns it into a call. */
export function toResponseOrder(
  given: JsonObject,
  { modelId, maxOutputTokens, history, canStore }: OrderContext & ReadOptions,
): ResponseOrder {
  const body = withTypes(given);
  checkTools(body);
  const request = readRequest(body);
  for (const name of nested) checkNested(name, body[name]);
  const { max_output_tokens: cap, include = [], stream = false, store = canStore } = request;
  const book = new ToolBook();
  book.add(body["tools"], "tools");
  const read = readItems(body, history, new ItemReader(modelId, book));
  const options = toOptions(request, book);
  const nativeField = book.nativeField ?? read.nativeField;
  const items: readonly JsonObject[] =
    typeof request.input === "string" ? [] : (request.input as readonly JsonObject[]);
  const input = typeof request.input === "string" ? [toUserItem(request.input)] : items;
  let native: JsonObject | undefined;
  return {
    call: {
      messages: read.messages,
      maxOutputTokens: leastOf(cap, maxOutputTokens),
      options,
      original: {
        dialect: "responses",
        nativeField,
        addedTokens: read.nativeBytes + book.nativeBytes + settingBytes(body),
        showsThoughts: asksForSummary(request) ? true : undefined,
        /** Created when it is needed: most models do not speak this dialect. */
        get body() {
          native ??= toNativeBody({
            body,
            input: history.length === 0 ? body["input"] : [...history, ...input],
            isStored: store,
          });
          return native;
        },
      },
    },
    stream,
    choices: 1,
    isCapNamed: cap !== undefined,
    request,
    input,
    book,
    places: read.places,
    isStored: store,
    wantsEncrypted: include.includes(encryptedReasoning),
  };
}

/** Fields that go upstream and can be nested. */
const nested = [
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "text",
  "reasoning",
  "include",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "service_tier",
  "stream_options",
] as const;

function readItems(
  { input, instructions }: JsonObject,
  history: readonly JsonObject[],
  items: ItemReader,
): ItemReader {
  if (typeof instructions === "string" && instructions !== "") items.addInstructions(instructions);
  for (const item of history) items.add(item, "previous_response_id");
  if (typeof input === "string") items.addText(input);
  else if (Array.isArray(input))
    for (const [at, item] of input.entries()) items.add(item as JsonObject, `input[${at}]`);
  items.end();
  if (items.messages.length === 0 && items.nativeField === undefined)
    throw fieldError("input", "must contain a message");
  return items;
}

const textSettings = new Set(["format"]);
const typeAlone = new Set(["type"]);
const schemaFields = new Set(["type", "name", "schema", "description", "strict"]);
/** Counted with the messages and the tools, or below, or too short to matter. */
const countedSettings: ReadonlySet<string> = new Set([
  "instructions",
  "tools",
  "tool_choice",
  "text",
  "reasoning",
  "parallel_tool_calls",
  "truncation",
  "temperature",
  "top_p",
  "top_logprobs",
  "max_tool_calls",
]);
const otherSettings = passedOn.filter((name) => !countedSettings.has(name));

/** The bytes of settings that a vendor may count as input and we do not. */
function settingBytes(body: JsonObject): number {
  const { text, reasoning, tool_choice: choice } = body;
  let bytes = isJsonObject(reasoning) ? jsonBytes(reasoning) : 0;
  if (isJsonObject(choice)) bytes += jsonBytes(choice);
  for (const name of otherSettings) {
    const value = body[name];
    if (value !== undefined && value !== null) bytes += jsonBytes(value);
  }
  if (!isJsonObject(text)) return bytes;
  const { format } = text;
  bytes += otherBytes(text, textSettings);
  if (!isJsonObject(format)) return bytes;
  return bytes + otherBytes(format, format["type"] === "json_schema" ? schemaFields : typeAlone);
}

/** Clients omit the type of messages. */
function withTypes(body: JsonObject): JsonObject {
  const { input } = body;
  if (!Array.isArray(input)) return body;
  let changed: Json[] | undefined;
  for (let at = 0; at < input.length; at++) {
    const item: Json = input[at];
    if (!isJsonObject(item) || typeof item["type"] === "string") continue;
    const type =
      item["role"] === undefined && item["id"] !== undefined ? "item_reference" : "message";
    changed ??= [...input];
    changed[at] = { ...item, type };
  }
  return changed === undefined ? body : { ...body, input: changed };
}

function checkTools({ tools, input }: JsonObject): void {
  ToolBook.check(tools, "tools");
  if (!Array.isArray(input)) return;
  for (const [at, item] of input.entries())
    if (isJsonObject(item) && item["tools"] !== undefined)
      ToolBook.check(item["tools"], `input[${at}].tools`);
}

export const toUserItem = (text: string): JsonObject => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text }],
});

function leastOf(cap: number | undefined, limit: number | undefined): number | undefined {
  if (cap === undefined || limit === undefined) return cap ?? limit;
  return Math.min(cap, limit);
}
