import { parseBounded } from "../../../base/json/bounds.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import {
  type Content,
  fieldError,
  fromDataUri,
  type InlineData,
  objectsOf,
  type Part,
} from "../wire.ts";
import { lacksInstructions, takesMediaResults, wantsSignatures } from "./generation.ts";

export interface Conversation {
  readonly systemInstruction?: { readonly parts: readonly Part[] };
  readonly contents: readonly Content[];
}

export interface ContentsOptions {
  readonly model: string;
  /** Whether the service knows ids of calls; the others go by order. */
  readonly hasCallIds: boolean;
}

/** The vendor's own word for calls whose signature is not known, such as those of another model. */
const anySignature = "skip_thought_signature_validator";

/**
 * The messages as turns. What system and developer say goes apart; turns of one role that follow
 * each other become one; results of tools make a turn of their own, because there must be as many
 * of them as there were calls.
 */
export function toContents(
  messages: readonly JsonObject[],
  options: ContentsOptions,
): Conversation {
  const instructions: Part[] = [];
  const turns = new Turns(options);
  for (const [at, message] of messages.entries()) {
    switch (message["role"]) {
      case "system":
      case "developer":
        for (const text of textsOf(message["content"])) instructions.push({ text });
        break;
      case "assistant":
        turns.addAnswer(message, at);
        break;
      case "tool":
        turns.addResult(message, at);
        break;
      default:
        turns.addQuestion(message, at);
    }
  }
  const { contents } = turns;
  if (instructions.length === 0) return { contents };
  // A conversation of nothing but instructions is none to the vendor.
  if (contents.length === 0) return { contents: [{ role: "user", parts: instructions }] };
  if (!lacksInstructions(options.model))
    return { systemInstruction: { parts: instructions }, contents };
  return { contents: inFront(instructions, contents) };
}

function inFront(instructions: readonly Part[], contents: readonly Content[]): readonly Content[] {
  const [first, ...rest] = contents;
  if (first?.role !== "user") return [{ role: "user", parts: [...instructions] }, ...contents];
  return [{ role: "user", parts: [...instructions, ...first.parts] }, ...rest];
}

class Turns {
  readonly contents: Content[] = [];
  readonly #options: ContentsOptions;
  readonly #needsSignature: boolean;
  /** The names of the calls so far, by their ids. */
  readonly #names = new Map<string, string>();
  /** The last turn is made of results. */
  #isResults = false;

  constructor(options: ContentsOptions) {
    this.#options = options;
    this.#needsSignature = wantsSignatures(options.model);
  }

  addQuestion({ content }: JsonObject, at: number): void {
    const parts = Array.isArray(content)
      ? content.map((part, place) => toQuestionPart(part, `messages[${at}].content[${place}]`))
      : [{ text: typeof content === "string" ? content : "" }];
    this.#add({ role: "user", parts });
  }

  addAnswer(message: JsonObject, at: number): void {
    const { content, refusal, tool_calls: calls } = message;
    const parts: Part[] = textsOf(content ?? refusal)
      .filter((text) => text !== "")
      .map((text) => ({ text }));
    const signature = signatureOf(message);
    if (signature !== undefined)
      parts.push({ ...(parts.pop() ?? { text: "" }), thoughtSignature: signature });
    // Of calls made at once the first alone is signed.
    let missing = this.#needsSignature ? anySignature : undefined;
    for (const [place, call] of objectsOf(calls).entries()) {
      const thoughtSignature = signatureOf(call) ?? missing;
      missing = undefined;
      const functionCall = this.#toCall(call, `messages[${at}].tool_calls[${place}]`);
      parts.push(
        thoughtSignature === undefined ? { functionCall } : { functionCall, thoughtSignature },
      );
    }
    if (parts.length > 0) this.#add({ role: "model", parts });
  }

  addResult(message: JsonObject, at: number): void {
    const { tool_call_id: id, name: ownName, content, is_error: isError } = message;
    const known = typeof id === "string" ? this.#names.get(id) : undefined;
    const name = known ?? (typeof ownName === "string" ? ownName : undefined);
    if (name === undefined)
      throw fieldError(
        `messages[${at}].tool_call_id`,
        "must be the id of a tool call in an earlier message",
      );
    const text = textsOf(content).join("");
    const response = isError === true ? { error: text } : toResponse(text);
    const withId = this.#options.hasCallIds && typeof id === "string" ? { id } : {};
    const media = toMediaParts(content, `messages[${at}].content`);
    const isWithin = media.length > 0 && takesMediaResults(this.#options.model);
    const within = isWithin ? { parts: media } : {};
    const functionResponse = { ...withId, name, response, ...within };
    this.#add({ role: "user", parts: [{ functionResponse }, ...(isWithin ? [] : media)] }, true);
  }

  #toCall(call: JsonObject, field: string): Part["functionCall"] & object {
    const called = isJsonObject(call["function"]) ? call["function"] : {};
    const name = String(called["name"]);
    const id = typeof call["id"] === "string" ? call["id"] : "";
    this.#names.set(id, name);
    const args = toArguments(called["arguments"], `${field}.function.arguments`);
    return this.#options.hasCallIds && id !== "" ? { id, name, args } : { name, args };
  }

  #add(turn: Content, isResults = false): void {
    const last = this.contents.at(-1);
    if (last?.role === turn.role && this.#isResults === isResults) last.parts.push(...turn.parts);
    else this.contents.push(turn);
    this.#isResults = isResults;
  }
}

function textsOf(content: Json | undefined): readonly string[] {
  if (typeof content === "string") return [content];
  return objectsOf(content).map(({ text, refusal }) =>
    typeof text === "string" ? text : typeof refusal === "string" ? refusal : "",
  );
}

function toQuestionPart(part: Json, field: string): Part {
  return toMediaPart(part, field) ?? { text: textsOf([part]).join("") };
}

function toMediaParts(content: Json | undefined, field: string) {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, place) => toMediaPart(part, `${field}[${place}]`) ?? []);
}

/** An image, a document or audio; undefined where it is text. */
function toMediaPart(part: Json, field: string): { readonly inlineData: InlineData } | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type, image_url: image, file, input_audio: audio } = part;
  if (type === "input_audio" && isJsonObject(audio)) {
    const { data, format } = audio;
    const mimeType = format === "mp3" ? "audio/mp3" : "audio/wav";
    return { inlineData: { mimeType, data: String(data) } };
  }
  if (type !== "image_url" && type !== "file") return undefined;
  const source = type === "file" ? file : image;
  const name = type === "file" ? "file_data" : "url";
  const uri = isJsonObject(source) ? source[name] : undefined;
  const inlineData = typeof uri === "string" ? fromDataUri(uri) : undefined;
  if (inlineData !== undefined) return { inlineData };
  throw fieldError(
    `${field}.${type}.${name}`,
    type === "file"
      ? "must be a base64 data URI, such as data:application/pdf;base64,…"
      : "must be a data URI, such as data:image/png;base64,…. This model does not accept image URLs",
  );
}

/** As the vendor's own compatible face carries it: signatures of thoughts go back to the model. */
function signatureOf({ extra_content: extra }: JsonObject): string | undefined {
  const google = isJsonObject(extra) ? extra["google"] : undefined;
  const signature = isJsonObject(google) ? google["thought_signature"] : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

function toArguments(text: Json | undefined, field: string): JsonObject {
  if (typeof text !== "string" || text.trim() === "") return {};
  const args = parsed(text);
  if (isJsonObject(args)) return args;
  throw fieldError(field, "must be a JSON object, encoded as a string");
}

/** A result must be an object: what is none is put into one. */
function toResponse(text: string): JsonObject {
  const value = text.trimStart().startsWith("{") ? parsed(text) : undefined;
  return isJsonObject(value) ? value : { result: text };
}

function parsed(text: string): unknown {
  try {
    return parseBounded(text);
  } catch {
    return undefined;
  }
}
