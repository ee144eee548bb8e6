import { spyOn } from "bun:test";
import { Pool } from "../../src/providers/kit/http1/pool.ts";
import { ReplyHead } from "../../src/providers/kit/http1/reply-head.ts";
import { SocketReply } from "../../src/providers/kit/http1/socket-reply.ts";

/** What a reply has to do with its connection; here nobody listens. */
const connection = { pause() {}, resume() {}, replied() {}, end() {} };

/** A reply in exactly these packets, read as that of a socket is; `head` ends in its empty line. */
export function toReply(
  packets: readonly Uint8Array[],
  head: Uint8Array = Buffer.from("HTTP/1.1 200 OK\r\n\r\n"),
): SocketReply {
  const text = Buffer.from(head).toString("latin1").slice(0, -"\r\n\r\n".length);
  const reply = new SocketReply(new ReplyHead(text), connection);
  // The head comes alone. Copies, because chunks are decoded where they stand.
  for (const packet of [Buffer.of(), ...packets]) reply.take(Buffer.from(packet), 0);
  if (reply.endsAtClose) reply.finish();
  return reply;
}

/**
 * Gives the calls of our own client replies that no socket has carried. Until it is disposed of, nothing
 * goes over the network.
 */
export class PacketPlayer implements Disposable {
  readonly #send = spyOn(Pool.prototype, "send");

  /** What every following call gets; `head` ends in its empty line. */
  play(head: Uint8Array, packets: readonly Uint8Array[]): void {
    this.#send.mockImplementation(async () => toReply(packets, head));
  }

  [Symbol.dispose](): void {
    this.#send.mockRestore();
  }
}
