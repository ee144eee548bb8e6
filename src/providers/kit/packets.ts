import { nextTurn } from "../../base/clock.ts";

/** What is parsed without a break: some milliseconds, whatever is in it. */
const usualPieceBytes = 128 * 1024;

/**
 * Reads a body a packet at a time. A packet of megabytes, which comes when an upstream is faster
 * than we are, is handed on in pieces, with a turn of the event loop for others between them.
 */
export class PacketReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #pieceBytes: number;
  #rest: Uint8Array | undefined;

  constructor(body: ReadableStream<Uint8Array>, pieceBytes = usualPieceBytes) {
    this.#reader = body.getReader();
    this.#pieceBytes = pieceBytes;
  }

  /** Undefined at the end. */
  read(): Promise<Uint8Array | undefined> {
    if (this.#rest !== undefined) return nextTurn().then(() => this.#cut(this.#rest));
    return this.#reader.read().then(({ value }) => this.#cut(value));
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#reader.cancel(reason);
  }

  #cut(packet: Uint8Array | undefined): Uint8Array | undefined {
    const isLong = packet !== undefined && packet.length > this.#pieceBytes;
    this.#rest = isLong ? packet.subarray(this.#pieceBytes) : undefined;
    return isLong ? packet.subarray(0, this.#pieceBytes) : packet;
  }
}
