import { connect, type Socket } from "node:net";
import type { Delivery } from "./cases/stall-case.ts";

/** One request over a connection of its own. */
export interface SentRequest {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly delivery: Delivery;
  readonly signal: AbortSignal;
}

const chunkBytes = 64 * 1024;
const slowPieces = 200;
const slowPauseMs = 5;
const heldMs = 1_000;

/** The status of the reply; "left" when we went, "closed" when the server did without one. */
export function sendRequest(request: SentRequest): Promise<string> {
  const { hostname, port } = new URL(request.origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  return new Promise((resolve) => {
    let start = Buffer.alloc(0);
    const over = (outcome: string) => {
      request.signal.removeEventListener("abort", leave);
      socket.destroy();
      resolve(outcome);
    };
    const leave = () => over("left");
    request.signal.addEventListener("abort", leave);
    const status = () => /^HTTP\/1\.1 (\d{3})/.exec(start.toString("latin1", 0, 16))?.[1];
    socket.on("data", (bytes: Buffer) => {
      if (start.length < 16) start = Buffer.concat([start, bytes.subarray(0, 16)]);
    });
    socket.on("error", () => over(status() ?? "closed"));
    socket.on("close", () => over(status() ?? "closed"));
    void deliver(socket, request).then((isHeld) => {
      if (isHeld) over("left");
    });
  });
}

/** True when the rest is held back, and the caller is to leave. */
async function deliver(socket: Socket, request: SentRequest): Promise<boolean> {
  const { body, delivery } = request;
  socket.write(headOf(request));
  if (body === undefined) return false;
  switch (delivery) {
    case "length":
      socket.write(body);
      return false;
    case "chunked":
      for (let at = 0; at < body.length; at += chunkBytes)
        socket.write(toChunk(body.subarray(at, at + chunkBytes)));
      socket.write("0\r\n\r\n");
      return false;
    case "bytes":
      socket.write(inChunksOfAByte(body));
      return false;
    case "slow": {
      const size = Math.ceil(body.length / slowPieces);
      for (let at = 0; at < body.length && !socket.destroyed; at += size) {
        socket.write(body.subarray(at, at + size));
        await Bun.sleep(slowPauseMs);
      }
      return false;
    }
    case "held":
      await new Promise<void>((resolve) => {
        socket.once("close", () => resolve());
        socket.write(body.subarray(0, -1), () => resolve());
      });
      await Bun.sleep(heldMs);
      return !socket.destroyed;
    default:
      return delivery satisfies never;
  }
}

function headOf({ origin, method, path, headers, body, delivery }: SentRequest): Buffer {
  const isChunked = delivery === "chunked" || delivery === "bytes";
  const framing: Record<string, string> =
    body === undefined
      ? {}
      : isChunked
        ? { "transfer-encoding": "chunked" }
        : { "content-length": String(body.length) };
  const fields = { host: new URL(origin).host, connection: "close", ...framing, ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
}

function toChunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
}

function inChunksOfAByte(body: Uint8Array): Buffer {
  const wire = Buffer.alloc(body.length * 6, "1\r\n?\r\n");
  for (const [at, byte] of body.entries()) wire[at * 6 + 3] = byte;
  return Buffer.concat([wire, Buffer.from("0\r\n\r\n")]);
}
