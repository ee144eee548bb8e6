import { type ChatCall, isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { Signal } from "../../../call/signal.ts";
import {
  type Family,
  type Fields,
  familyOf,
  isFields,
  type LanguageModel,
  ownerOf,
} from "../model.ts";
import { refusal, withCache } from "./content.ts";
import { toPrompt } from "./prompt.ts";
import { toThinking } from "./reasoning.ts";

/** A call as packages take it; what is not asked for is not there. */
export async function toCallOptions(options: {
  readonly call: ChatCall;
  readonly model: LanguageModel;
  readonly modelId: string;
  readonly signal: Signal;
  readonly takesUrls: boolean;
}): Promise<Fields> {
  const { call, model, modelId, signal, takesUrls } = options;
  const { messages, options: asked, maxOutputTokens: cap } = call;
  const { n } = asked;
  if (typeof n === "number" && n > 1) throw refusal("n", "must be 1 for this model");
  const family = familyOf(model);
  const owner = ownerOf(model);
  // Known at once for most packages, asked for by some.
  const urls = model.supportedUrls;
  const known: unknown = urls instanceof Promise ? await urls : urls;
  const supportedUrls = isFields(known) ? known : {};
  const hasToolBlocks = family !== "bedrock" || mayCallTools(asked);
  const reader = {
    family,
    owner,
    supportedUrls,
    takesUrls,
    hasToolBlocks,
  };
  const prompt = toPrompt(messages, reader);
  const thinking = toThinking({
    family,
    owner,
    model: modelId,
    cap,
    options: asked,
    messages,
  });
  const made: Record<string, unknown> = { ...thinking.fields, prompt, abortSignal: signal };
  // One package drops what it does not know, and does not tell a cut from an end.
  if (family === "bedrock") made["includeRawChunks"] = true;
  if (cap !== undefined) made["maxOutputTokens"] = cap - thinking.budgetTokens;
  for (const [name, ours] of numbers) {
    const value = asked[ours];
    if (typeof value === "number") made[name] = value;
  }
  if (family === "bedrock" && refusesBoth(modelId) && made["temperature"] !== undefined)
    delete made["topP"];
  const { stop } = asked;
  if (typeof stop === "string") made["stopSequences"] = [stop];
  else if (Array.isArray(stop)) made["stopSequences"] = stop;
  if (hasToolBlocks) addTools(made, asked, family);
  addAnswerForm({ made, asked, prompt });
  made["providerOptions"] = withOwnFields({ given: made["providerOptions"], asked, family });
  return made;
}

/** One vendor has no word for `none`, and its package drops what tools gave back without a word. */
function mayCallTools({ tools, tool_choice: choice }: JsonObject): boolean {
  return Array.isArray(tools) && tools.length > 0 && choice !== "none";
}

/** Models from 4.1 on refuse temperature beside top_p. */
function refusesBoth(model: string): boolean {
  return (
    model.includes("claude") && !/claude-(instant|v?2|3-|(sonnet|opus)-4(-2\d{7}|$))/.test(model)
  );
}

const numbers = [
  ["temperature", "temperature"],
  ["topP", "top_p"],
  ["topK", "top_k"],
  ["seed", "seed"],
  ["presencePenalty", "presence_penalty"],
  ["frequencyPenalty", "frequency_penalty"],
] as const;

function addTools(made: Record<string, unknown>, asked: JsonObject, family: Family): void {
  const { tools, tool_choice: choice } = asked;
  if (!Array.isArray(tools) || tools.length === 0) return;
  made["tools"] = tools.filter(isJsonObject).map((tool) => toTool(tool, family));
  const chosen = toToolChoice(choice);
  if (chosen !== undefined) made["toolChoice"] = chosen;
}

function toTool(tool: JsonObject, family: Family): Fields {
  const described = isJsonObject(tool["function"]) ? tool["function"] : {};
  const { name, description, parameters, strict } = described;
  return {
    type: "function",
    name: String(name),
    ...(typeof description === "string" ? { description } : {}),
    inputSchema: isJsonObject(parameters) ? parameters : { type: "object", properties: {} },
    ...(strict === true ? { strict } : {}),
    ...withCache(tool, family),
  };
}

function toToolChoice(choice: Json | undefined): Fields | undefined {
  if (choice === "none" || choice === "auto" || choice === "required") return { type: choice };
  const named = isJsonObject(choice) ? choice["function"] : undefined;
  const name = isJsonObject(named) ? named["name"] : undefined;
  return typeof name === "string" ? { type: "tool", toolName: name } : undefined;
}

function addAnswerForm(options: {
  readonly made: Record<string, unknown>;
  readonly asked: JsonObject;
  readonly prompt: Fields[];
}): void {
  const { made, asked, prompt } = options;
  const { response_format: format } = asked;
  if (!isJsonObject(format)) return;
  if (format["type"] === "json_schema") {
    const { schema, name, description } = isJsonObject(format["json_schema"])
      ? format["json_schema"]
      : {};
    made["responseFormat"] = {
      type: "json",
      ...(isJsonObject(schema) ? { schema } : {}),
      ...(typeof name === "string" ? { name } : {}),
      ...(typeof description === "string" ? { description } : {}),
    };
  } else if (format["type"] === "json_object") {
    // Both know JSON by a schema only; without one it has to be said.
    const ofOthers = prompt.findIndex(({ role }) => role !== "system");
    const at = ofOthers === -1 ? prompt.length : ofOthers;
    prompt.splice(at, 0, {
      role: "system",
      content: "Answer with one JSON object and nothing else.",
    });
  }
}

/** What packages have no common word for. */
function withOwnFields(options: {
  readonly given: unknown;
  readonly asked: JsonObject;
  readonly family: Family;
}): Fields {
  const { given, asked, family } = options;
  const { parallel_tool_calls: parallel, user } = asked;
  const all: Record<string, unknown> = isFields(given) ? { ...given } : {};
  const add = (fields: Fields) => {
    const before = all["anthropic"];
    all["anthropic"] = { ...(isFields(before) ? before : {}), ...fields };
  };
  // Bedrock's package reads it there, too.
  if (parallel === false && Array.isArray(asked["tools"])) add({ disableParallelToolUse: true });
  if (typeof user === "string" && family === "anthropic") add({ metadata: { userId: user } });
  return all;
}
