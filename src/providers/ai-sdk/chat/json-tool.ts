import type { ChatPart } from "../../../call/chat.ts";
import { type Fields, isFields } from "../model.ts";

/**
 * A package makes a forced tool, named `json`, of a schema that a model does not take. What the model
 * says before it calls the tool is no part of the answer, which is to be JSON and nothing else.
 */
const toolName = "json";

/** Whether the request that a package made of these options has that tool. */
export function writesByTool(options: Fields, request: unknown): boolean {
  const { responseFormat: format } = options;
  if (!isFields(format) || format["schema"] === undefined) return false;
  const body = isFields(request) ? request["body"] : undefined;
  const config = isFields(body) ? body["toolConfig"] : undefined;
  const tools = isFields(config) ? config["tools"] : undefined;
  return Array.isArray(tools) && tools.some((tool) => nameOf(tool) === toolName);
}

function nameOf(tool: unknown): unknown {
  const spec = isFields(tool) ? tool["toolSpec"] : undefined;
  return isFields(spec) ? spec["name"] : undefined;
}

/** Whether a whole answer is the JSON that the tool was called with. */
export function isWrittenByTool({ providerMetadata: metadata }: Fields): boolean {
  if (!isFields(metadata)) return false;
  return Object.values(metadata).some(
    (told) => isFields(told) && told["isJsonResponseFromTool"] === true,
  );
}

/**
 * Of the texts of such an answer, what the tool was called with first. A package writes that as JSON
 * again, so it is an object that is written in the same way by anybody.
 */
export function firstWritten(texts: readonly string[]): string {
  return texts.find(isWrittenObject) ?? texts.at(-1) ?? "";
}

function isWrittenObject(text: string): boolean {
  if (!text.startsWith("{")) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

/** Longer than anything a model says before a call: an answer that talks on is passed on. */
const maxHeldChars = 64 * 1024;
/** About what a held part takes in memory, besides its text. */
const partChars = 128;

/**
 * Holds back the text of a stream, and the calls after it, until it is known whether the tool is
 * called: a model can call others first.
 */
export class JsonToolText {
  /** The content block that is the first call of the tool. */
  #block: string | undefined;
  #held: ChatPart[] = [];
  #heldChars = 0;
  #isReleased = false;

  /** Looks at an event of the vendor, before the package makes text of it. Returns held calls. */
  look(event: Fields): readonly ChatPart[] {
    const begun = event["contentBlockStart"];
    const start = isFields(begun) ? begun["start"] : undefined;
    const call = isFields(start) ? start["toolUse"] : undefined;
    if (!isFields(begun) || !isFields(call) || call["name"] !== toolName) return [];
    if (this.#block !== undefined) return [];
    this.#block = String(begun["contentBlockIndex"]);
    return this.release().filter(({ type }) => type !== "text-delta");
  }

  /** What may go out when a block has said a text. */
  take(id: string, text: string): readonly ChatPart[] {
    if (this.#block !== undefined && this.#block !== id) return [];
    const part = { type: "text-delta", index: 0, text } as const;
    return this.#block !== undefined || this.#isReleased ? [part] : this.#hold(part, text.length);
  }

  /** What may go out when a piece of a call has come: it stays behind the text before it. */
  takeCall(part: ChatPart, chars: number): readonly ChatPart[] {
    return this.#held.length === 0 ? [part] : this.#hold(part, chars);
  }

  /** The tool was not called: what is held is the answer after all. */
  release(): readonly ChatPart[] {
    const held = this.#held;
    this.#held = [];
    this.#isReleased = true;
    return held;
  }

  #hold(part: ChatPart, chars: number): readonly ChatPart[] {
    this.#held.push(part);
    this.#heldChars += chars + partChars;
    return this.#heldChars > maxHeldChars ? this.release() : [];
  }
}
