import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { CarriedReader, isCarried } from "../carried.ts";
import { jsonBytes, otherBytes } from "../other-bytes.ts";
import { fieldError } from "../validate.ts";
import { type ToolBook, toChatName } from "./tool-book.ts";

/** Where a message came from, for errors that speak of it. */
export interface Place {
  /** The item. */
  readonly field: string;
  /** The field with its content. */
  readonly content: string;
  /** The items of its tool calls. */
  readonly calls: readonly string[];
}

/** The fields of items and parts that are counted with the messages. */
const messageFields = new Set(["type", "id", "role", "content"]);
const callFields = new Set(["type", "id", "call_id", "name", "arguments"]);
const customCallFields = new Set(["type", "id", "call_id", "name", "input"]);
const outputFields = new Set(["type", "id", "call_id", "output"]);
const searchCallFields = new Set(["type", "id", "call_id", "arguments"]);
const searchOutputFields = new Set(["type", "id", "call_id", "tools"]);
const toolsFields = new Set(["type", "id", "tools"]);
const screenshotFields = new Set(["image_url"]);
const textFields = new Set(["type", "text"]);
const partFields: Readonly<Record<string, ReadonlySet<string>>> = {
  refusal: new Set(["type", "refusal"]),
  input_image: new Set(["type", "image_url", "detail"]),
  input_file: new Set(["type", "file_data", "filename"]),
};

/** One turn of the model, which can consist of several items. */
class Turn {
  readonly field: string;
  readonly texts: string[] = [];
  readonly calls: JsonObject[] = [];
  readonly callFields: string[] = [];
  readonly details: JsonObject[] = [];
  /** Made where there are any. */
  callExtras: Map<string, JsonObject> | undefined;
  contentField: string | undefined;
  refusal: string | undefined;
  extra: JsonObject | undefined;
  thoughts = "";

  constructor(field: string) {
    this.field = field;
  }

  get hasSaid(): boolean {
    return this.texts.length > 0 || this.refusal !== undefined;
  }

  get place(): Place {
    return {
      field: this.field,
      content: this.contentField ?? this.field,
      calls: this.callFields,
    };
  }

  /** Undefined: reasoning without text or a call after it. */
  toMessage(): JsonObject | undefined {
    const { texts, calls, refusal, thoughts, details, extra } = this;
    if (!this.hasSaid && calls.length === 0) return undefined;
    const [only = null] = texts;
    const message: Record<string, Json> = {
      role: "assistant",
      content: texts.length < 2 ? only : texts.map((text) => ({ type: "text", text })),
    };
    // Put together step by step: spreading what is mostly absent costs more than all the rest.
    if (refusal !== undefined) message["refusal"] = refusal;
    if (thoughts !== "") message["reasoning_content"] = thoughts;
    if (details.length > 0) message["reasoning_details"] = details;
    if (extra !== undefined) message["extra_content"] = extra;
    if (calls.length > 0) message["tool_calls"] = calls.map((call) => this.#signed(call));
    return message;
  }

  #signed(call: JsonObject): JsonObject {
    const extra = this.callExtras?.get(String(call["id"]));
    return extra === undefined ? call : { ...call, extra_content: extra };
  }
}

/** Makes messages of items: what a model said in one turn becomes one message. */
export class ItemReader {
  readonly messages: JsonObject[] = [];
  readonly places: Place[] = [];
  readonly #book: ToolBook;
  readonly #carried: CarriedReader;
  #turn: Turn | undefined;
  /** The first field that only a vendor's own models know. */
  nativeField: string | undefined;
  /** Of what no message has, and a vendor that gets the items reads. */
  nativeBytes = 0;

  /** `modelId`: of the model that is called. Reasoning of others is left out. */
  constructor(modelId: string, book: ToolBook) {
    this.#carried = new CarriedReader(modelId);
    this.#book = book;
  }

  addInstructions(text: string): void {
    this.#push({ role: "system", content: text }, "instructions", "instructions");
  }

  addText(text: string): void {
    this.#push({ role: "user", content: text }, "input", "input");
  }

  end(): void {
    const message = this.#turn?.toMessage();
    if (this.#turn !== undefined && message !== undefined) {
      this.messages.push(message);
      this.places.push(this.#turn.place);
    }
    this.#turn = undefined;
  }

  add(item: JsonObject, field: string): void {
    const { type, call_id: id } = item;
    switch (type) {
      case "message":
        this.#noteOthers(item, messageFields, item["content"]);
        return this.#addMessage(item, field);
      case "function_call":
        this.#noteOthers(item, callFields);
        return this.#call({ id, name: calledName(item), arguments: item["arguments"] }, field);
      case "custom_tool_call":
        this.#noteOthers(item, customCallFields);
        return this.#call(
          { id, name: calledName(item), arguments: JSON.stringify({ input: item["input"] }) },
          field,
        );
      case "function_call_output":
      case "custom_tool_call_output":
        this.#noteOthers(item, outputFields, item["output"]);
        return this.#addOutput(item, field);
      case "tool_search_call":
      case "tool_search_output":
        return this.#addSearch(item, field);
      case "computer_call_output":
        return this.#addScreenshot(item, field);
      case "additional_tools":
        this.#noteOthers(item, toolsFields);
        return this.#book.add(item["tools"], `${field}.tools`);
      case "reasoning":
        return this.#addReasoning(item, field);
      default:
        // Those of a stored reply can be of kinds that are not known here, and are sent back.
        this.nativeField ??= `${field}.type`;
        this.nativeBytes += jsonBytes(item);
    }
  }

  /** What a vendor that gets the items reads besides. */
  #noteOthers(
    item: JsonObject,
    known: ReadonlySet<string>,
    parts: Json | undefined = undefined,
  ): void {
    this.nativeBytes += otherBytes(item, known);
    // In chat completions, a long name is cut.
    if (typeof item["namespace"] === "string") this.nativeBytes += jsonBytes(String(item["name"]));
    if (!Array.isArray(parts)) return;
    for (const part of parts)
      if (isJsonObject(part))
        this.nativeBytes += otherBytes(part, partFields[String(part["type"])] ?? textFields);
  }

  /** Only the vendor gets it; as a message it counts as the image that it is. */
  #addScreenshot(item: JsonObject, field: string): void {
    const { call_id: id, output } = item;
    const screen = isJsonObject(output) ? output : {};
    const { image_url: url, file_id: file } = screen;
    this.nativeField ??= `${field}.type`;
    if (file !== undefined && file !== null) throw noFileId(`${field}.output`, "image_url");
    this.nativeBytes += otherBytes(item, outputFields) + otherBytes(screen, screenshotFields);
    const content = [{ type: "image_url", image_url: { url } }];
    this.#push({ role: "tool", tool_call_id: id, content }, field, `${field}.output`);
  }

  #addSearch(item: JsonObject, field: string): void {
    const { type, call_id: id, arguments: given, tools } = item;
    if (type === "tool_search_output") this.#book.add(tools, `${field}.tools`);
    if (typeof id !== "string") {
      // The vendor ran this search.
      this.nativeField ??= `${field}.type`;
      this.nativeBytes += jsonBytes(item);
    } else if (type === "tool_search_call") {
      const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
      this.#noteOthers(item, searchCallFields);
      this.#call({ id, name: "tool_search", arguments: text }, field);
    } else {
      this.#noteOthers(item, searchOutputFields);
      this.#push(
        { role: "tool", tool_call_id: id, content: JSON.stringify({ tools }) },
        field,
        `${field}.tools`,
      );
    }
  }

  #addMessage({ role, content }: JsonObject, field: string): void {
    const place = `${field}.content`;
    if (role !== "assistant") {
      const said = toContent(content, { field: place, hasMedia: role === "user" });
      this.#push({ role, content: said }, field, place);
      return;
    }
    // Two messages without a call between them stay two.
    if (this.#turn?.hasSaid === true && this.#turn.calls.length === 0) this.end();
    const turn = this.#turnAt(field);
    turn.contentField ??= place;
    if (typeof content === "string") turn.texts.push(content);
    else if (Array.isArray(content))
      for (const [at, part] of content.entries()) addSaid(turn, part, `${place}[${at}]`);
    if (!turn.hasSaid) turn.texts.push("");
  }

  #call(
    {
      id,
      name,
      arguments: text,
    }: { id: Json | undefined; name: string; arguments: Json | undefined },
    field: string,
  ): void {
    const turn = this.#turnAt(field);
    turn.calls.push({ id, type: "function", function: { name, arguments: text } });
    turn.callFields.push(field);
  }

  #addOutput({ call_id: id, output }: JsonObject, field: string): void {
    const place = `${field}.output`;
    const content = toContent(output, { field: place, hasMedia: true });
    const isText = Array.isArray(content) && content.every(isTextPart);
    // Not every server accepts the texts of a result as parts.
    const said = isText ? content.map(({ text }) => String(text)).join("\n") : content;
    this.#push({ role: "tool", tool_call_id: id, content: said }, field, place);
  }

  #addReasoning(item: JsonObject, field: string): void {
    const { summary, content, encrypted_content: opaque } = item;
    const turn = this.#turnAt(field);
    const carried = this.#carried.read(opaque);
    // A vendor that speaks the format gets all of what is not ours.
    if (typeof opaque === "string" && !isCarried(opaque)) this.nativeBytes += jsonBytes(item);
    // For all others, it is another model's. Without a signature, nobody knows whose it is: callers
    // write such items by hand.
    if (carried === undefined && typeof opaque === "string" && opaque !== "") return;
    const shown = textsIn(content);
    for (const text of shown.length > 0 ? shown : textsIn(summary))
      turn.thoughts += turn.thoughts === "" ? text : `\n\n${text}`;
    if (carried === undefined) return;
    for (const detail of carried.details ?? []) turn.details.push(detail);
    turn.extra ??= carried.extra;
    for (const id in carried.calls) {
      const signed = carried.calls[id];
      if (signed === undefined) continue;
      turn.callExtras ??= new Map();
      turn.callExtras.set(id, signed);
    }
  }

  #turnAt(field: string): Turn {
    this.#turn ??= new Turn(field);
    return this.#turn;
  }

  #push(message: JsonObject, field: string, content: string): void {
    this.end();
    this.messages.push(message);
    this.places.push({ field, content, calls: [] });
  }
}

function calledName({ name, namespace }: JsonObject): string {
  return toChatName(String(name), typeof namespace === "string" ? namespace : undefined);
}

function textsIn(parts: Json | undefined): readonly string[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) => {
    const text = isJsonObject(part) ? part["text"] : undefined;
    return typeof text === "string" && text !== "" ? [text] : [];
  });
}

function addSaid(turn: Turn, part: Json, field: string): void {
  if (!isJsonObject(part)) return;
  const { type, text, refusal } = part;
  if (type === "output_text") turn.texts.push(String(text));
  else if (type === "refusal") turn.refusal = (turn.refusal ?? "") + String(refusal);
  else throw fieldError(`${field}.type`, 'must be "output_text" or "refusal" for this role');
}

interface ContentOptions {
  readonly field: string;
  readonly hasMedia: boolean;
}

const isTextPart = ({ type }: JsonObject) => type === "text";

/** A single text is not sent as a list: not every server accepts one. */
function toContent(
  content: Json | undefined,
  { field, hasMedia }: ContentOptions,
): string | readonly JsonObject[] {
  if (!Array.isArray(content)) return String(content);
  const parts = content.map((part, at) =>
    toPart(part as JsonObject, { field: `${field}[${at}]`, hasMedia }),
  );
  const [only, ...others] = parts;
  if (only === undefined) return "";
  return others.length === 0 && isTextPart(only) ? String(only["text"]) : parts;
}

function toPart(part: JsonObject, { field, hasMedia }: ContentOptions): JsonObject {
  const { type } = part;
  if (type === "input_text") return { type: "text", text: part["text"] };
  if (!hasMedia) throw fieldError(`${field}.type`, 'must be "input_text" for this role');
  if (type === "input_image") return toImage(part, field);
  if (type === "input_file") return toFile(part, field);
  throw fieldError(
    `${field}.type`,
    'must be "input_text", "input_image" or "input_file" for this role',
  );
}

function toImage({ image_url: url, file_id: id, detail }: JsonObject, field: string): JsonObject {
  if (id !== undefined && id !== null) throw noFileId(field, "image_url");
  if (typeof url !== "string")
    throw fieldError(`${field}.image_url`, "is required and must be an http(s) URL or a data URI");
  const known = detail === "original" ? "high" : detail;
  return {
    type: "image_url",
    image_url: { url, ...(known === undefined || known === null ? {} : { detail: known }) },
  };
}

function toFile(part: JsonObject, field: string): JsonObject {
  const { file_data: data, file_id: id, file_url: url, filename } = part;
  if (id !== undefined && id !== null) throw noFileId(field, "file_data");
  // Refused beside file_data, too: a vendor that gets the item itself might fetch the URL.
  if (url !== undefined && url !== null)
    throw fieldError(`${field}.file_url`, "is not supported. Send the file itself as file_data");
  if (typeof data === "string")
    return {
      type: "file",
      file: { file_data: data, ...(typeof filename === "string" ? { filename } : {}) },
    };
  throw fieldError(`${field}.file_data`, "is required and must be a data URI");
}

/** A file id could name any file in the operator's own vendor account. */
const noFileId = (field: string, instead: string) =>
  fieldError(`${field}.file_id`, `is not supported. Send the data itself as ${instead}`);
