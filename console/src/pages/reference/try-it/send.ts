import { readWavHeader, wavHeader } from "../../../../../src/base/wav.ts";
import { browserSession } from "../../../browser-session.ts";

export interface Question {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | undefined;
  readonly signal: AbortSignal;
}

/** What has come so far. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly type: string;
  readonly firstByteMs: number;
  readonly totalMs: number | undefined;
  /** The body, as far as it is shown. */
  readonly text: string;
  /** What a streamed chat says, put together from its events. */
  readonly said: string;
  readonly audio: Blob | undefined;
  readonly sizeBytes: number;
}

/** More than this is not shown: a page is no place for it. */
const mostShown = 200_000;

/** Asks for real, and tells what comes as it comes. Rejects when nothing came at all. */
export async function send(
  question: Question,
  onChange: (answer: Answer) => void,
): Promise<Answer> {
  const { method, url, headers, body, signal } = question;
  const startedMs = performance.now();
  // Where a key is sent, the session has no business, even on one host.
  const isOwn =
    headers["authorization"] === undefined &&
    new URL(url, location.href).origin === location.origin;
  const response = await fetch(url, {
    method,
    headers: isOwn ? { ...headers, ...browserSession.headers() } : headers,
    signal,
    credentials: isOwn ? "same-origin" : "omit",
    ...(body === undefined ? {} : { body }),
  });
  const type = (response.headers.get("content-type") ?? "").split(";", 1)[0] ?? "";
  let answer: Answer = {
    status: response.status,
    headers: [...response.headers],
    type,
    firstByteMs: performance.now() - startedMs,
    totalMs: undefined,
    text: "",
    said: "",
    audio: undefined,
    sizeBytes: 0,
  };
  onChange(answer);
  const tell = (change: Partial<Answer>) => {
    answer = { ...answer, ...change };
    onChange(answer);
  };
  if (type.startsWith("audio/")) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    tell({ audio: toPlayable(bytes, type), sizeBytes: bytes.length });
  } else await readText(response, answer, tell);
  tell({ totalMs: performance.now() - startedMs });
  return answer;
}

async function readText(
  response: Response,
  start: Answer,
  tell: (change: Partial<Answer>) => void,
): Promise<void> {
  const isEvents = start.type === "text/event-stream";
  const decoder = new TextDecoder();
  const chat = new ChatWords();
  let text = "";
  let sizeBytes = 0;
  for await (const bytes of chunksOf(response)) {
    const piece = decoder.decode(bytes, { stream: true });
    sizeBytes += bytes.length;
    if (text.length < mostShown) text = (text + piece).slice(0, mostShown);
    if (isEvents) tell({ text, sizeBytes, said: chat.add(piece) });
  }
  if (!isEvents) tell({ text, sizeBytes });
}

/** Not every browser can walk through a stream. */
async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

/** Puts the words of a streamed chat together, event by event. */
export class ChatWords {
  #rest = "";
  #said = "";

  add(piece: string): string {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines)
      if (line.startsWith("data: {") && this.#said.length < mostShown)
        this.#said += deltaOf(line.slice(6));
    return this.#said;
  }
}

/** Of any format: chat, legacy completions, Responses, Messages and transcriptions. */
interface StreamEvent {
  readonly type?: unknown;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown };
    readonly text?: unknown;
  }[];
  readonly delta?: string | { readonly text?: unknown } | null;
}

function deltaOf(json: string): string {
  try {
    const { choices, type, delta } = JSON.parse(json) as StreamEvent;
    const said =
      type === "response.output_text.delta" || type === "transcript.text.delta"
        ? delta
        : typeof delta === "object"
          ? delta?.text
          : (choices?.[0]?.delta?.content ?? choices?.[0]?.text);
    return typeof said === "string" ? said : "";
  } catch {
    return "";
  }
}

/** What a browser can play: bare samples get a header, and a streamed file its real length. */
export function toPlayable(bytes: Uint8Array, type: string): Blob {
  const header = type === "audio/pcm" ? undefined : readWavHeader(bytes);
  // Where the length was not known before the first byte, the header does not have it.
  const isStreamed = header?.ok === true && header.dataBytes === undefined;
  const samples = isStreamed ? bytes.subarray(header.dataOffset) : bytes;
  const isBare = isStreamed || header === undefined;
  const file = isBare ? [wavHeader({ dataBytes: samples.length })] : [];
  return new Blob([...file, new Uint8Array(samples)], { type: "audio/wav" });
}
