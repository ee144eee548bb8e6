import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { otherBytes } from "../other-bytes.ts";
import { fieldError } from "../validate.ts";

/** The tools of a request, in the format of chat completions. */
export interface Tools {
  /** Tools that the model can call now. */
  readonly list: readonly JsonObject[];
  /** The index in the request of each of them. */
  readonly places: readonly number[];
  /** The first field that only an upstream with the Messages format can serve. */
  readonly nativeField: string | undefined;
  /** The most tokens that such an upstream may count beyond those of the list. */
  readonly addedTokens: number;
}

/** Tokens that a vendor adds to the prompt for a tool of its own. */
const nativeToolTokens = 1_500;

/**
 * The model knows a deferred tool once a result refers to it. Upstreams with this format handle that
 * themselves: they add the tool to the prompt at each reference.
 */
export function toTools(
  { tools, tool_choice: choice }: JsonObject,
  references: ReadonlyMap<string, number>,
): Tools {
  const list: JsonObject[] = [];
  const places: number[] = [];
  const chosen = isJsonObject(choice) && choice["type"] === "tool" ? choice["name"] : undefined;
  let nativeField: string | undefined;
  let addedTokens = 0;
  for (const [at, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    if (!isJsonObject(tool)) continue;
    const { name } = tool;
    if (isNative(tool)) {
      nativeField ??= `tools[${at}].type`;
      addedTokens += nativeToolTokens;
    }
    const count = references.get(String(name)) ?? 0;
    const isKnown = !isDeferred(tool) || count > 0 || name === chosen;
    if (isKnown) {
      list.push(toTool(tool));
      places.push(at);
    }
    const extra = isKnown ? Math.max(0, count - 1) : 1;
    if (extra > 0) addedTokens += extra * bytesOf(tool);
    addedTokens += otherBytes(tool, functionFields);
  }
  return { list, places, nativeField, addedTokens };
}

export function checkTools({ tools, tool_choice: choice }: JsonObject): void {
  if (!Array.isArray(tools)) {
    if (isJsonObject(choice) && choice["type"] === "tool") throw unknownChoice();
    return;
  }
  let isNamed = false;
  let hasDeferredOnly = tools.length > 0;
  for (const [at, tool] of tools.entries()) {
    if (!isJsonObject(tool)) continue;
    isNamed ||= isJsonObject(choice) && choice["name"] === tool["name"];
    hasDeferredOnly &&= isDeferred(tool);
    if (!isNative(tool) && !isJsonObject(tool["input_schema"]))
      throw fieldError(`tools[${at}].input_schema`, "is required and must be a JSON schema");
  }
  if (isJsonObject(choice) && choice["type"] === "tool" && !isNamed) throw unknownChoice();
  if (hasDeferredOnly) throw fieldError("tools", "must contain a tool without defer_loading");
}

const unknownChoice = () => fieldError("tool_choice.name", "must be the name of a tool in tools");

const isNative = ({ type }: JsonObject) => typeof type === "string" && type !== "custom";
const isDeferred = (tool: JsonObject) => tool["defer_loading"] === true && !isNative(tool);
const bytesOf = (value: Json) => Buffer.byteLength(JSON.stringify(value));
/** Fields of chat functions. Only such an upstream reads others, such as examples. */
const functionFields = new Set([
  "type",
  "name",
  "description",
  "input_schema",
  "strict",
  "cache_control",
]);

function toTool(tool: JsonObject): JsonObject {
  const { name, description, input_schema: parameters, strict, cache_control: cache } = tool;
  const called: Record<string, Json | undefined> = { name };
  if (typeof description === "string") called["description"] = description;
  called["parameters"] = isJsonObject(parameters) ? parameters : { type: "object", properties: {} };
  if (strict === true) called["strict"] = true;
  const wish = isJsonObject(cache) ? { cache_control: { type: "ephemeral" } } : {};
  return { type: "function", function: called, ...wish };
}
