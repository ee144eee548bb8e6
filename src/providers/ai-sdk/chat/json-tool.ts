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

/** Longer than anything a model says before a call: an answer that talks on is passed on. */
const maxHeldChars = 64 * 1024;

/** Holds back the text of a stream until it is known whether the tool is called. */
export class JsonToolText {
  /** The content blocks that are calls of the tool. */
  readonly #blocks = new Set<string>();
  #held = "";
  #isReleased = false;

  /** Looks at an event of the vendor, before the package makes text of it. */
  look(event: Fields): void {
    const begun = event["contentBlockStart"];
    const start = isFields(begun) ? begun["start"] : undefined;
    const call = isFields(start) ? start["toolUse"] : undefined;
    if (!isFields(begun) || !isFields(call) || call["name"] !== toolName) return;
    this.#blocks.add(String(begun["contentBlockIndex"]));
    this.#held = "";
  }

  /** What of a text may go out. */
  take(id: string, text: string): string {
    if (this.#blocks.size > 0) return this.#blocks.has(id) ? text : "";
    if (this.#isReleased) return text;
    this.#held += text;
    return this.#held.length > maxHeldChars ? this.release() : "";
  }

  /** The tool was not called: the text is the answer after all. */
  release(): string {
    const held = this.#held;
    this.#held = "";
    this.#isReleased = true;
    return held;
  }
}
