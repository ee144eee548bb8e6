import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A whole exchange, with the handshake of TLS, takes less than a tenth of this. */
export const mostReadBytes = 256 * 1024;

/**
 * A connection of which only so many bytes are read. The SMTP library keeps each line of the server
 * until it has processed it, so lines without end would take all memory and block the process. Each
 * byte counts before TLS and the library see it.
 */
export class BoundedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #onTooMuch: () => void;
  #readBytes = 0;

  constructor(socket: Socket, onTooMuch: () => void) {
    super();
    this.#socket = socket;
    this.#onTooMuch = onTooMuch;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("end", () => this.push(null));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.destroy());
  }

  #take(chunk: Buffer): void {
    this.#readBytes += chunk.length;
    if (this.#readBytes > mostReadBytes) return this.#onTooMuch();
    if (!this.push(chunk)) this.#socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // As that of a socket, the end comes later than what caused it, such as a bad certificate.
    if (this.#socket.closed) return done(error);
    this.#socket.once("close", () => done(error));
    this.#socket.destroy();
  }

  /** The library calls it; a message has a time limit of its own. */
  setTimeout(): this {
    return this;
  }
}
