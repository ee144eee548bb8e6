/** Reads the gateway's event streams to the letter: where an SDK forgives, this does not. */

import { expect } from "bun:test";

export interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly ChunkChoice[];
  readonly usage?: Readonly<Record<string, unknown>> | null;
}

interface ChunkChoice {
  readonly index: number;
  readonly delta: Readonly<Record<string, unknown>>;
  readonly finish_reason: string | null;
}

interface ToolPiece {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

const finishReasons = ["stop", "length", "content_filter", "tool_calls"];

export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

export interface EventStream {
  readonly chunks: readonly Chunk[];
  readonly comments: readonly string[];
  /** The error event, which is always the last. */
  readonly error: ErrorBody["error"] | undefined;
  readonly isDone: boolean;
}

/** Throws on anything but `data: JSON` and comments, each closed by a blank line. */
export function parseStream(text: string): EventStream {
  const blocks = text.split("\n\n");
  if (blocks.pop() !== "") throw new Error(`no blank line at the end of ${text.slice(-100)}`);
  const comments: string[] = [];
  const chunks: Chunk[] = [];
  let error: EventStream["error"];
  let isDone = false;
  for (const block of blocks) {
    if (isDone || error !== undefined) throw new Error(`something follows the end: ${block}`);
    if (block.includes("\n") || block.includes("\r")) throw new Error(`two lines: ${block}`);
    if (block.startsWith(": ")) comments.push(block.slice(2));
    else if (block === "data: [DONE]") isDone = true;
    else if (!block.startsWith("data: {")) throw new Error(`not an event: ${block}`);
    else {
      const event = JSON.parse(block.slice("data: ".length)) as Chunk | ErrorBody;
      if ("error" in event) error = event.error;
      else chunks.push(event);
    }
  }
  return { chunks, comments, error, isDone };
}

export async function readStream(response: Response): Promise<EventStream> {
  const text = await response.text();
  expect({ status: response.status, text: response.status === 200 ? "" : text }).toEqual({
    status: 200,
    text: "",
  });
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  return parseStream(text);
}

/** What clients need of every stream that ended well, whatever the upstream sent. */
export function expectWellFormed(
  stream: EventStream,
  options: { readonly model: string; readonly includeUsage: boolean },
): void {
  const { chunks } = stream;
  expect(stream.error).toBeUndefined();
  expect(stream.isDone).toBe(true);
  const [first] = chunks;
  const shared = {
    id: first?.id,
    object: "chat.completion.chunk",
    created: first?.created,
    model: options.model,
  };
  expect(first?.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
  expect(Number.isInteger(first?.created)).toBe(true);
  for (const chunk of chunks) {
    const { id, object, created, model, choices } = chunk;
    expect({ id, object, created, model }).toEqual({ ...shared } as typeof shared & Chunk);
    expect(Array.isArray(choices)).toBe(true);
    expect(chunk).not.toHaveProperty("error");
  }
  expectUsage(chunks, options.includeUsage);
  for (const index of choiceIndexes(chunks)) expectChoice(chunks, index);
}

function expectUsage(chunks: readonly Chunk[], includeUsage: boolean): void {
  if (!includeUsage) {
    for (const chunk of chunks) {
      expect(chunk).not.toHaveProperty("usage");
      expect(chunk.choices.length).toBeGreaterThan(0);
    }
    return;
  }
  const last = chunks.at(-1);
  expect(last?.choices).toEqual([]);
  const {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total,
  } = last?.usage ?? {};
  expect([input, output].every(Number.isInteger)).toBe(true);
  expect(total).toBe(Number(input) + Number(output));
  for (const chunk of chunks.slice(0, -1)) {
    expect(chunk.usage).toBeNull();
    expect(chunk.choices.length).toBeGreaterThan(0);
  }
}

function expectChoice(chunks: readonly Chunk[], index: number): void {
  const mine = choicesOf(chunks, index);
  expect(Number.isInteger(index)).toBe(true);
  const reasons = mine.map(({ finish_reason: reason }) => reason);
  expect(reasons.slice(0, -1)).toEqual(reasons.slice(0, -1).map(() => null));
  expect(finishReasons).toContain(reasons.at(-1) ?? "");
  for (const { delta } of mine) {
    expect(delta).toBeObject();
    // A piece of text, or nothing: never a list of parts.
    expect(["string", "undefined"]).toContain(typeof (delta["content"] ?? undefined));
  }
  expect(mine.map(({ delta }) => delta["role"]).filter((role) => role !== undefined)).toEqual([
    "assistant",
  ]);
  expect(mine[0]?.delta).toHaveProperty("role");
  expectToolPieces(mine);
}

/** Clients join what repeats: a call says what it is in its first piece, and never again. */
function expectToolPieces(choices: readonly ChunkChoice[]): void {
  const seen = new Set<number>();
  for (const { index, id, type, function: called } of piecesOf(choices)) {
    if (seen.has(index)) {
      expect([id, type, called?.name]).toEqual([undefined, undefined, undefined]);
      expect(called?.arguments).toBeString();
      continue;
    }
    // Lists are filled by index, so that a gap would be a call of nothing.
    expect(index).toBe(seen.size);
    seen.add(index);
    expect({ type, id: typeof id }).toEqual({ type: "function", id: "string" });
    expect(called).toEqual({ name: expect.any(String), arguments: expect.any(String) });
  }
}

function piecesOf(choices: readonly ChunkChoice[]): readonly ToolPiece[] {
  return choices.flatMap(({ delta }) => (delta["tool_calls"] ?? []) as readonly ToolPiece[]);
}

function choiceIndexes(chunks: readonly Chunk[]): ReadonlySet<number> {
  return new Set(chunks.flatMap(({ choices }) => choices.map(({ index }) => index)));
}

function choicesOf(chunks: readonly Chunk[], index: number): readonly ChunkChoice[] {
  return chunks.flatMap(({ choices }) => choices.filter((choice) => choice.index === index));
}

export function textOf({ chunks }: EventStream, index = 0): string {
  return choicesOf(chunks, index)
    .map(({ delta }) => delta["content"])
    .filter((text) => typeof text === "string")
    .join("");
}

export function finishOf({ chunks }: EventStream, index = 0): string | null | undefined {
  return choicesOf(chunks, index).at(-1)?.finish_reason;
}

export function reasoningOf({ chunks }: EventStream, index = 0): string {
  return choicesOf(chunks, index)
    .map(({ delta }) => delta["reasoning_content"] ?? "")
    .join("");
}

/** All pieces of tool calls of the first choice, as they were sent. */
export function toolPiecesOf({ chunks }: EventStream): readonly ToolPiece[] {
  return piecesOf(choicesOf(chunks, 0));
}

/** The calls of a choice, joined as clients join them. */
export function toolCallsOf({ chunks }: EventStream, index = 0): readonly ToolCall[] {
  const calls: ToolCall[] = [];
  for (const piece of piecesOf(choicesOf(chunks, index))) {
    const { id = "", name = "", text = "" } = calls[piece.index] ?? {};
    calls[piece.index] = {
      id: id + (piece.id ?? ""),
      name: name + (piece.function?.name ?? ""),
      text: text + (piece.function?.arguments ?? ""),
    };
  }
  return calls;
}

/** Reads a reply's body only as far as it is asked to. */
export class BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    if (response.body === null) throw new Error("the reply has no body");
    this.#reader = response.body.getReader();
  }

  get text(): string {
    return this.#text;
  }

  /** Reads on until the body contains this; throws if it ends before. */
  async until(wanted: string): Promise<void> {
    while (!this.#text.includes(wanted))
      if (!(await this.#read())) throw new Error(`ended before ${wanted}: ${this.#text}`);
  }

  /** One read more; throws if there is none. */
  async more(): Promise<void> {
    if (!(await this.#read())) throw new Error(`ended: ${this.#text}`);
  }

  /** The whole body. */
  async rest(): Promise<string> {
    while (await this.#read());
    return this.#text;
  }

  async #read(): Promise<boolean> {
    const { value, done } = await this.#reader.read();
    if (!done) this.#text += this.#decoder.decode(value, { stream: true });
    return !done;
  }
}
