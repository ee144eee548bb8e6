/** What the load generator is asked for, in either loop, and what it reports. */
import { dialectRequest } from "../dialects/dialect-requests.ts";
import { type Encoding, embeddingsRequest, speechRequest } from "./media-traffic.ts";
import type { Expected } from "./reply.ts";
import { percentile } from "./samples.ts";
import { chatRequest, httpRequest, type LoadDialect, shortChat, streamRequest } from "./traffic.ts";

export type LoadKind = "chat" | "stream" | "embeddings" | "speech";

export type LoadJob = {
  readonly kind: LoadKind;
  /** Of chats and streams; default: chat completions. */
  readonly dialect?: LoadDialect | undefined;
  /** Of short chats and streams: with tools, and a call of one in the history. */
  readonly hasTools?: boolean | undefined;
  readonly port: number;
  /** The model to ask for. */
  readonly model: string;
  /** The model that chat replies must name; default: the same. */
  readonly replyModel?: string | undefined;
  /** Used in turn, one per request. */
  readonly keys: readonly string[];
  /** Whole header lines that this server needs. */
  readonly headers?: readonly string[] | undefined;
  readonly connections: number;
  /** In all, not per connection. With `durationMs`, the most. */
  readonly requests: number;
  /** No request is sent after this time. */
  readonly durationMs?: number | undefined;
  /** Content events per stream. */
  readonly chunks: number;
  /** Milliseconds between the chunks of a stream. */
  readonly paceMs?: number | undefined;
  /** Size of the JSON body of a chat. */
  readonly bodyBytes?: number | undefined;
  /** Of embeddings; default: float. */
  readonly encoding?: Encoding | undefined;
  readonly timeoutMs: number;
  /** Open loop: requests per second. */
  readonly rate?: number | undefined;
  /** Open loop: requests that may wait for a free connection; further ones are dropped. */
  readonly maxQueued?: number | undefined;
  /** Goes on after failures, which are counted: for a server that has more load than it can take. */
  readonly isTolerant?: boolean | undefined;
  /** Returns every time, so that several runs can be put together. */
  readonly keepsTimes?: boolean | undefined;
};

export type LoadResult = {
  readonly replies: number;
  readonly failures: number;
  readonly firstFailure?: string;
  /** Replies with 429 or 503. */
  readonly refused: number;
  /** Requests that were due and never sent. */
  readonly dropped: number;
  readonly durationMs: number;
  /** Until the whole reply was here; of a stream, until its first content was. */
  readonly p50Us: number;
  readonly p99Us: number;
  readonly timesUs?: readonly number[];
  /** Reads that brought content: about one per chunk when nothing on the way bunches events up. */
  readonly contentReads: number;
};

/** After this many failures the figures are worthless; the rest of the job is not sent. */
export const maxFailures = 10;

/** Stands where the key goes. */
const keyPlace = "<key>";
/** Requests are built in advance; large ones with fewer keys. */
const maxRequestsBytes = 64 * 1024 * 1024;

/** One per key. They differ in nothing else, so the body is written once. */
export function requestsOf(job: LoadJob): readonly Buffer[] {
  const template = requestOf(job, keyPlace).toString("latin1");
  const [head = "", tail = ""] = template.split(keyPlace);
  const most = Math.max(1, Math.floor(maxRequestsBytes / template.length));
  return job.keys.slice(0, most).map((key) => Buffer.from(head + key + tail, "latin1"));
}

function requestOf(job: LoadJob, key: string): Buffer {
  const { kind, model, chunks, paceMs, bodyBytes, headers, encoding = "float" } = job;
  const { dialect = "chat", hasTools = false } = job;
  if ((dialect !== "chat" || hasTools) && (kind === "chat" || kind === "stream")) {
    const chat = { model, ...shortChat(kind === "stream" ? chunks : undefined) };
    return httpRequest({ key, headers, ...dialectRequest(dialect, chat, hasTools) });
  }
  switch (kind) {
    case "chat":
      return chatRequest({ model, key, bodyBytes, headers });
    case "stream":
      return streamRequest({ model, key, chunks, paceMs, bodyBytes, headers });
    case "embeddings":
      return embeddingsRequest({ model, key, encoding, headers });
    case "speech":
      return speechRequest({ model, key, headers });
    default:
      return kind satisfies never;
  }
}

export function expectedOf(job: LoadJob): Expected {
  const { kind, model, replyModel = model, chunks, dialect = "chat", encoding = "float" } = job;
  switch (kind) {
    case "chat":
      return { kind, model: replyModel };
    case "stream":
      return { kind, chunks, dialect };
    case "embeddings":
      return { kind, encoding };
    case "speech":
      return { kind };
    default:
      return kind satisfies never;
  }
}

export function timesOf(
  timesNs: Float64Array,
  { keepsTimes = false }: LoadJob,
): Pick<LoadResult, "p50Us" | "p99Us" | "timesUs"> {
  const sorted = timesNs.sort();
  return {
    p50Us: percentile(sorted, 0.5) / 1000,
    p99Us: percentile(sorted, 0.99) / 1000,
    ...(keepsTimes ? { timesUs: Array.from(sorted, (ns) => Math.round(ns / 100) / 10) } : {}),
  };
}
