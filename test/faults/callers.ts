/** Many callers at once, over raw connections: whether a reply came whole is told by its bytes. */

import { connect } from "node:net";
import { MessageReader } from "../fake/http/message.ts";
import { Dice } from "../fuzz/cases/dice.ts";

export type CallKind = "chat" | "stream" | "embeddings" | "speech";

export interface Call {
  /** Unique, and a part of what is asked: the upstream sees it, too. */
  readonly marker: string;
  readonly kind: CallKind;
  readonly idempotencyKey: string | undefined;
}

export interface Answered {
  readonly call: Call;
  /** broken: the connection ended before the reply did, or no reply came at all. */
  readonly end: "whole" | "broken";
  /** Undefined while not even the head had come. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Target {
  readonly origin: string;
  readonly key: string;
  /** A caller has read something of a reply. */
  readonly sawText?: (marker: string) => void;
}

const callWithinMs = 60_000;

const paths: Readonly<Record<CallKind, string>> = {
  chat: "/v1/chat/completions",
  stream: "/v1/chat/completions",
  embeddings: "/v1/embeddings",
  speech: "/v1/audio/speech",
};

function bodyOf({ kind, marker }: Call): unknown {
  const messages = [{ role: "user", content: `This is ${marker}.` }];
  switch (kind) {
    case "chat":
      return { model: "chat", messages, max_tokens: 100 };
    case "stream":
      return { model: "chat", messages, max_tokens: 100, stream: true };
    case "embeddings":
      return { model: "embed", input: `This is ${marker}.` };
    case "speech":
      return {
        model: "speech",
        voice: "Kore",
        response_format: "pcm",
        input: `This is ${marker}.`,
      };
    default:
      return kind satisfies never;
  }
}

/** One call over a connection of its own, read to its end or to the end of the connection. */
export function send({ origin, key, sawText }: Target, call: Call): Promise<Answered> {
  const { hostname, port } = new URL(origin);
  const body = JSON.stringify(bodyOf(call));
  const head = [
    `POST ${paths[call.kind]} HTTP/1.1`,
    `host: ${hostname}:${port}`,
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...(call.idempotencyKey === undefined ? [] : [`idempotency-key: ${call.idempotencyKey}`]),
  ];
  return new Promise((resolve) => {
    // It follows where the reply ends, and keeps its head only.
    const reader = new MessageReader("reply");
    const received: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      const replyBody = bodyIn(Buffer.concat(received), reader.headers);
      const status = /^HTTP\/1\.1 (\d{3})/.exec(reader.startLine)?.[1];
      resolve({
        call,
        end: reader.complete && isWhole(call, reader.startLine, replyBody) ? "whole" : "broken",
        status: status === undefined ? undefined : Number(status),
        headers: reader.headers,
        body: replyBody,
      });
    };
    const timer = setTimeout(finish, callWithinMs);
    socket.on("connect", () => socket.write(`${head.join("\r\n")}\r\n\r\n${body}`));
    socket.on("data", (bytes: Buffer) => {
      received.push(bytes);
      reader.push(bytes);
      if (reader.complete) return finish();
      if (bytes.includes("data: ")) sawText?.(call.marker);
    });
    for (const event of ["end", "close", "error"]) socket.on(event, finish);
  });
}

/** Framing alone does not make an answer whole: JSON must parse, and a stream must say its end. */
function isWhole({ kind }: Call, startLine: string, body: Buffer): boolean {
  const isOk = startLine.includes(" 200 ");
  if (isOk && kind === "speech") return true;
  const text = body.toString();
  if (isOk && kind === "stream") return text.endsWith("data: [DONE]\n\n");
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** As far as it has come. */
function bodyIn(bytes: Buffer, headers: Readonly<Record<string, string>>): Buffer {
  const headEnd = bytes.indexOf("\r\n\r\n");
  const body = headEnd === -1 ? Buffer.alloc(0) : bytes.subarray(headEnd + 4);
  if (headers["transfer-encoding"] === undefined) return body;
  const pieces: Buffer[] = [];
  let at = 0;
  while (at < body.length) {
    const lineEnd = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.toString("latin1", at, lineEnd), 16);
    if (lineEnd === -1 || Number.isNaN(size)) break;
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(pieces);
}

export interface LoadOptions {
  readonly target: Target;
  readonly round: number;
  readonly seed: number;
  readonly callers: number;
  readonly callsEach: number;
}

/** Each caller calls again and again, until the other side is gone. */
export async function load(options: LoadOptions): Promise<readonly Answered[]> {
  const { target, round, seed, callers, callsEach } = options;
  const work = async (caller: number): Promise<readonly Answered[]> => {
    const dice = new Dice(seed, round * 1_000 + caller);
    const answers: Answered[] = [];
    for (let at = 0; at < callsEach; at++) {
      const answer = await send(target, planCall(dice, `call-${round}-${caller}-${at}`));
      answers.push(answer);
      if (answer.end === "broken") break;
    }
    return answers;
  };
  return (await Promise.all(Array.from({ length: callers }, (_, at) => work(at)))).flat();
}

function planCall(dice: Dice, marker: string): Call {
  const kind = dice.weighted<CallKind>([
    [40, "chat"],
    [35, "stream"],
    [18, "embeddings"],
    [7, "speech"],
  ]);
  return { marker, kind, idempotencyKey: dice.percent(25) ? `key-${marker}` : undefined };
}
