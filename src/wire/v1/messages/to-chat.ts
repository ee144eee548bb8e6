import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { type Carried, CarriedReader, isCarried } from "../carried.ts";
import { jsonBytes } from "../other-bytes.ts";

/** Where a part of a chat message stands in the request: errors name the caller's own field. */
export interface Place {
  readonly path: string;
  /** Of the entries of its content. */
  readonly parts: readonly string[];
  /** Of its tool calls. */
  readonly calls: readonly string[];
}

/** A conversation in the vocabulary of chat completions. */
export interface Conversation {
  readonly messages: readonly JsonObject[];
  readonly places: readonly Place[];
  /** The first field that only an upstream that speaks the Messages format can serve. */
  readonly nativeField: string | undefined;
  /** Of what vendors sign, or they alone get: at most so many tokens that no message here has. */
  readonly signedTokens: number;
  /** How often results refer to a tool, by its name. */
  readonly references: ReadonlyMap<string, number>;
}

/** Turns messages of a checked request into those of a chat. */
export function toConversation({
  modelId,
  system,
  messages,
}: {
  /** The model that is called: thoughts of others are left out. */
  readonly modelId: string;
  readonly system: Json | undefined;
  readonly messages: readonly JsonObject[];
}): Conversation {
  const writer = new ConversationWriter(modelId);
  if (system !== undefined) writer.addSystem(system, "system");
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message !== undefined) writer.add(message, `messages[${at}]`);
  }
  return writer;
}

/** A list under construction: what was written, and where it came from. */
interface Parts {
  readonly content: JsonObject[];
  readonly places: string[];
}

class ConversationWriter implements Conversation {
  readonly messages: JsonObject[] = [];
  readonly places: Place[] = [];
  nativeField: string | undefined;
  signedTokens = 0;
  readonly references = new Map<string, number>();
  readonly #carried: CarriedReader;

  constructor(modelId: string) {
    this.#carried = new CarriedReader(modelId);
  }

  addSystem(content: Json, path: string): void {
    if (typeof content === "string") {
      if (content !== "") this.#push({ role: "system", content }, { path });
      return;
    }
    const parts = this.#partsOf(content, path);
    if (parts.content.length === 0) return;
    const said = joinedOf(parts.content, "\n\n");
    this.#push({ role: "system", content: said }, { path, parts: parts.places });
  }

  add({ role, content = "" }: JsonObject, path: string): void {
    if (role === "system") this.addSystem(content, `${path}.content`);
    else if (role === "assistant") this.#addAnswer(content, path);
    else this.#addQuestion(content, path);
  }

  /** Results of tools go first: servers want them right behind the calls. */
  #addQuestion(content: Json, path: string): void {
    if (!Array.isArray(content)) {
      this.#push({ role: "user", content }, { path });
      return;
    }
    const said: Parts = { content: [], places: [] };
    for (const [at, block] of content.entries()) {
      if (!isJsonObject(block)) continue;
      const place = `${path}.content[${at}]`;
      if (block["type"] === "tool_result") this.#addResult(block, place);
      else this.#addBlock(block, place, said);
    }
    if (said.content.length > 0)
      this.#push({ role: "user", content: said.content }, { path, parts: said.places });
  }

  #addResult(block: JsonObject, path: string): void {
    const { tool_use_id: id, content, is_error: isError, cache_control: cache } = block;
    const parts = Array.isArray(content) ? this.#partsOf(content, `${path}.content`) : undefined;
    this.#push(
      {
        role: "tool",
        tool_call_id: id,
        content:
          parts === undefined || parts.content.length === 0
            ? typeof content === "string"
              ? content
              : ""
            : joinedOf(parts.content, "\n"),
        ...(isError === true ? { is_error: true } : {}),
        ...withCache(cache),
      },
      { path, ...(parts === undefined ? {} : { parts: parts.places }) },
    );
  }

  #addAnswer(content: Json, path: string): void {
    if (!Array.isArray(content)) {
      if (content !== "") this.#push({ role: "assistant", content }, { path });
      return;
    }
    const said: Parts = { content: [], places: [] };
    const calls: Parts = { content: [], places: [] };
    const thoughts = new Thoughts(this.#carried);
    for (const [at, block] of content.entries()) {
      if (!isJsonObject(block)) continue;
      const place = `${path}.content[${at}]`;
      if (block["type"] === "tool_use") {
        calls.content.push(toCall(block));
        calls.places.push(place);
      } else if (block["type"] === "text") this.#addBlock(block, place, said);
      else thoughts.take(block);
    }
    this.signedTokens += thoughts.nativeTokens;
    if (said.content.length === 0 && calls.content.length === 0) {
      this.signedTokens += thoughts.textBytes;
      return;
    }
    const message: Record<string, Json | undefined> = {
      role: "assistant",
      content: said.content.length === 0 ? null : plainOf(said.content),
    };
    thoughts.addTo(message);
    if (calls.content.length > 0)
      message["tool_calls"] = calls.content.map((call) => thoughts.withExtra(call));
    this.#push(message, { path, parts: said.places, calls: calls.places });
  }

  #partsOf(content: Json | undefined, path: string): Parts {
    const parts: Parts = { content: [], places: [] };
    if (!Array.isArray(content)) return parts;
    for (const [at, block] of content.entries())
      if (isJsonObject(block)) this.#addBlock(block, `${path}[${at}]`, parts);
    return parts;
  }

  #addBlock(block: JsonObject, path: string, into: Parts): void {
    const { type, cache_control: cache } = block;
    const before = into.content.length;
    this.#noteSources(block);
    switch (type) {
      case "image":
        this.#put(toImage(block["source"]), path, into);
        break;
      case "document":
        this.#addDocument(block, path, into);
        break;
      case "search_result":
        this.#addSearchResult(block, path, into);
        break;
      case "tool_reference":
        this.#addReference(String(block["tool_name"]), path, into);
        break;
      default:
        // Servers refuse a text of nothing.
        if (block["text"] !== "") this.#put({ type: "text", text: block["text"] }, path, into);
    }
    const last = into.content.at(-1);
    if (last === undefined || into.content.length === before) return;
    if (isJsonObject(cache)) into.content[into.content.length - 1] = { ...last, ...ephemeral };
  }

  #put(part: JsonObject, path: string, { content, places }: Parts): void {
    content.push(part);
    places.push(path);
  }

  #addDocument(block: JsonObject, path: string, into: Parts): void {
    const { source, title, context, citations } = block;
    const { type, data, content } = isJsonObject(source) ? source : {};
    this.#noteCitations(citations, path);
    const head = [title, context].filter((one) => typeof one === "string" && one !== "").join("\n");
    if (type === "text" || (type === "content" && typeof content === "string")) {
      const text = String(type === "text" ? data : content);
      this.#put({ type: "text", text: head === "" ? text : `${head}\n\n${text}` }, path, into);
      return;
    }
    if (head !== "" && (type === "content" || typeof context === "string"))
      this.#put({ type: "text", text: head }, path, into);
    if (type === "content") {
      const inner = this.#partsOf(content, `${path}.source.content`);
      for (const [at, part] of inner.content.entries())
        this.#put(part, inner.places[at] ?? path, into);
      return;
    }
    if (type === "url") this.nativeField ??= `${path}.source.url`;
    // An address has no data here: as a document, it counts as much as the model can read.
    const base64 = typeof data === "string" ? data : "";
    const filename = typeof title === "string" && title !== "" ? title : "document.pdf";
    const file = { file_data: `data:application/pdf;base64,${base64}`, filename };
    this.#put({ type: "file", file }, path, into);
  }

  #addSearchResult(block: JsonObject, path: string, into: Parts): void {
    const { source, title, content, citations } = block;
    this.#noteCitations(citations, path);
    const parts = (Array.isArray(content) ? content : []).filter(isJsonObject);
    for (const part of parts) this.#noteSources(part);
    const texts = parts.map((part) => String(part["text"]));
    const text = [`${title} (${source})`, ...texts].join("\n\n");
    this.#put({ type: "text", text }, path, into);
  }

  /** The tool itself is among those of the request. */
  #addReference(name: string, path: string, into: Parts): void {
    this.references.set(name, (this.references.get(name) ?? 0) + 1);
    this.#put({ type: "text", text: `The tool ${name} is available now.` }, path, into);
  }

  /** Where a text comes from, which chat content parts cannot express. */
  #noteSources({ citations }: JsonObject): void {
    if (citations !== undefined && citations !== null) this.signedTokens += jsonBytes(citations);
  }

  #noteCitations(citations: Json | undefined, path: string): void {
    if (isJsonObject(citations) && citations["enabled"] === true)
      this.nativeField ??= `${path}.citations`;
  }

  #push(message: JsonObject, place: Pick<Place, "path"> & Partial<Place>): void {
    this.messages.push(message);
    const { path, parts = none, calls = none } = place;
    this.places.push({ path, parts, calls });
  }
}

/** What a model thought in one turn: words, and what was carried by the caller. */
class Thoughts {
  /** At most so many, of thoughts that only a vendor that speaks the format gets. */
  nativeTokens = 0;
  #text = "";
  readonly #details: JsonObject[] = [];
  #extra: JsonObject | undefined;
  #calls: Record<string, JsonObject> = Object.create(null);

  readonly #carried: CarriedReader;

  constructor(carried: CarriedReader) {
    this.#carried = carried;
  }

  get textBytes(): number {
    return Buffer.byteLength(this.#text);
  }

  take({ type, thinking, signature, data }: JsonObject): void {
    const opaque = type === "thinking" ? signature : data;
    const words = typeof thinking === "string" ? thinking : "";
    const isOurs: boolean = isCarried(opaque);
    const carried = isOurs ? this.#carried.read(opaque) : undefined;
    if (carried !== undefined) this.#restore(carried);
    // Without a signature, nobody knows who thought it: callers write such thoughts by hand.
    if (carried !== undefined || typeof opaque !== "string" || opaque === "") this.#text += words;
    // A vendor that speaks the format gets what is not ours. For all others, it is another model's.
    else if (!isOurs) this.nativeTokens += opaque.length + Buffer.byteLength(words);
  }

  #restore({ details = [], extra, calls = {} }: Carried): void {
    // A message may have thousands: none is copied for the next.
    for (const detail of details) this.#details.push(detail);
    this.#extra = extra ?? this.#extra;
    this.#calls = Object.assign(this.#calls, calls);
  }

  addTo(message: Record<string, Json | undefined>): void {
    if (this.#text !== "") message["reasoning_content"] = this.#text;
    if (this.#details.length > 0) message["reasoning_details"] = this.#details;
    if (this.#extra !== undefined) message["extra_content"] = this.#extra;
  }

  withExtra(call: JsonObject): JsonObject {
    const extra = this.#calls[String(call["id"])];
    return extra === undefined ? call : { ...call, extra_content: extra };
  }
}

function toCall({ id, name, input, cache_control: cache }: JsonObject): JsonObject {
  return {
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input ?? {}) },
    ...withCache(cache),
  };
}

function toImage(source: Json | undefined): JsonObject {
  const { type, media_type: mediaType, data, url } = isJsonObject(source) ? source : {};
  const address = type === "url" ? url : `data:${mediaType};base64,${data}`;
  return { type: "image_url", image_url: { url: address } };
}

const ephemeral = { cache_control: { type: "ephemeral" } };
const withCache = (wish: Json | undefined) => (isJsonObject(wish) ? ephemeral : {});
const none: readonly string[] = [];

/** One text goes as text: some servers know nothing else in answers. */
function plainOf(content: readonly JsonObject[]): Json {
  const [only] = content;
  const isPlain = content.length === 1 && only?.["cache_control"] === undefined;
  return isPlain ? String(only?.["text"]) : content;
}

/** Nothing but texts go as one: some servers know nothing else in instructions and results. */
function joinedOf(content: readonly JsonObject[], between: string): Json {
  const isPlain = content.every(
    ({ type, cache_control: cache }) => type === "text" && cache === undefined,
  );
  return isPlain ? content.map(({ text }) => String(text)).join(between) : content;
}
