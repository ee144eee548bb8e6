import type { Expectation, FuzzCase, ReplyKind } from "./cases/fuzz-case.ts";
import { parsed } from "./cases/json-text.ts";
import { keyMark, promptMark } from "./cases/odd-values.ts";
import type { Outcome, WireReply } from "./connection.ts";
import { inOneShape, streamProblem } from "./dialect-replies.ts";
import { replyProblem } from "./oracle.ts";

export interface Verdict {
  /** What is wrong; undefined when the case passed. */
  readonly problem: string | undefined;
  /** The runtime's HTTP parser answered, or ended the connection, before our code saw a request. */
  readonly isBelowUs: boolean;
  /** Of the replies that our code gave. */
  readonly statuses: readonly number[];
}

const longestMessage = 2_000;

/** Holds what came back against what a case may get. */
export function judge(fuzzCase: FuzzCase, outcome: Outcome): Verdict {
  const mayBeVersion = fuzzCase.form === "version";
  const ours = outcome.replies.filter((reply) => !isParserRefusal(reply, mayBeVersion));
  const problem = problemOf(fuzzCase, outcome);
  return {
    problem,
    isBelowUs: ours.length === 0,
    statuses: ours.map(({ status }) => status),
  };
}

function problemOf({ form, expects }: FuzzCase, outcome: Outcome): string | undefined {
  const { end, replies, leftBytes } = outcome;
  if (end === "timed out") return `no reply after ${Math.round(outcome.tookMs)} ms`;
  if (end === "malformed") return "the reply is no valid HTTP";
  if (form === "broken" || form === "version") {
    const wrong = replies.find((reply) => !isParserRefusal(reply, form === "version"));
    return wrong === undefined ? undefined : `a broken request was answered: ${shown(wrong)}`;
  }
  for (const [at, reply] of replies.entries()) {
    if (form === "odd" && isParserRefusal(reply)) break;
    const expectation = expects[at];
    const problem = expectation === undefined ? "one too many" : checkReply(reply, expectation);
    if (problem !== undefined) return `${problem}: ${shown(reply)}`;
  }
  if (form === "odd") return undefined;
  if (replies.length < expects.length)
    return `${replies.length} of ${expects.length} replies, then the connection ended`;
  return leftBytes > 0 ? `${leftBytes} bytes behind the reply` : undefined;
}

/** Bun's own answer to what it cannot read: a bare status, none of our headers, no body. */
function isParserRefusal({ status, headers, body }: WireReply, alsoVersion = false): boolean {
  const statuses = alsoVersion ? [400, 413, 431, 505] : [400, 413, 431];
  return statuses.includes(status) && body.length === 0 && !headers.has("x-request-id");
}

/** Undefined when the reply is one of those that are expected, and whole. */
export function checkReply(reply: WireReply, expectation: Expectation): string | undefined {
  const { status, headers, body } = reply;
  if (status >= 500) return `a ${status}`;
  if (!/^req_[0-9a-f]{32}$/.test(headers.get("x-request-id") ?? "")) return "no x-request-id";
  if (headers.has("x-injected")) return "a header that the request made up";
  if (!expectation.statuses.includes(status))
    return `${status} where ${expectation.statuses.join(" or ")} is right`;
  if (expectation.isHead === true) return body.length === 0 ? undefined : "a body for HEAD";
  if (status === 204) return undefined;
  return status === 200 ? checkServed(reply, expectation) : checkError(reply, expectation);
}

function checkError({ status, headers, body }: WireReply, { fields, reply }: Expectation) {
  if (headers.get("content-type") !== "application/json") return "an error that is not JSON";
  const text = body.toString("utf8");
  const value = inOneShape(reply, parsed(text));
  const problem = replyProblem("error", value);
  if (problem !== undefined) return problem;
  const { error } = value as { readonly error: Readonly<Record<string, string | null>> };
  if (Object.keys(value as object).join() !== "error") return "an error with more beside it";
  if (Object.keys(error).toSorted().join() !== "code,message,param,type")
    return "an error with other keys";
  if (String(error["message"]).length > longestMessage) return "an error that is too long";
  const param = error["param"] ?? "";
  // The name of a model is no secret: it is told back, so that a typing error is seen.
  const repeats = text.includes(keyMark) || (param !== "model" && text.includes(promptMark));
  if (repeats) return "an error that repeats a secret";
  if (status === 405 && !headers.has("allow")) return "405 without allow";
  if (status !== 400 || fields === undefined) return undefined;
  const isBlamed = fields.some(
    (field) => param === field || param.startsWith(`${field}.`) || param.startsWith(`${field}[`),
  );
  return isBlamed ? undefined : `it blames "${param}", not "${fields.join('" or "')}"`;
}

/** The schema of each kind of reply that is JSON. */
const schemas: Readonly<Partial<Record<ReplyKind, Parameters<typeof replyProblem>[0]>>> = {
  chat: "chat",
  completions: "completion",
  responses: "response",
  "stored-response": "response",
  "deleted-response": "deletedResponse",
  "input-items": "responseItems",
  messages: "message",
  "count-tokens": "count",
  "text-embeddings": "embeddings",
  "media-embeddings": "embeddings",
  models: "models",
  model: "model",
};

function checkServed(reply: WireReply, { reply: kind, form }: Expectation): string | undefined {
  const type = reply.headers.get("content-type") ?? "";
  const isStreamed = type.startsWith("text/event-stream");
  if (form !== undefined && (form === "events") !== isStreamed)
    return `${type} where ${form} were asked for`;
  if (kind === "speech") return checkAudio(reply, type);
  const schema = schemas[kind];
  // Subtitles and plain text are replies as well.
  if (schema === undefined) return undefined;
  const text = reply.body.toString("utf8");
  if (isStreamed) return streamProblem(kind, text);
  if (type !== "application/json") return "a reply that is not JSON";
  return replyProblem(schema, parsed(text));
}

function checkAudio({ body }: WireReply, type: string): string | undefined {
  if (type === "audio/pcm") return body.length > 0 ? undefined : "no sound";
  if (type !== "audio/wav") return `${type} is no sound`;
  const isWav =
    body.toString("latin1", 0, 4) === "RIFF" && body.toString("latin1", 8, 12) === "WAVE";
  return isWav && body.length > 44 ? undefined : "no WAV file";
}

function shown({ status, body }: WireReply): string {
  return `${status} ${body.toString("utf8", 0, 300)}`;
}
