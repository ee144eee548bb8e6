import { nextTurn } from "../../base/clock.ts";
import type { Bytes, UpstreamReply } from "./reply.ts";

/** What is parsed without a break: some milliseconds, whatever is in it. */
const usualPieceBytes = 128 * 1024;

type PacketSource = Pick<UpstreamReply, "read" | "cancel">;

/**
 * Reads a body a packet at a time. A packet of megabytes, which comes when an upstream is faster
 * than we are, is handed on in pieces, with a turn of the event loop for others between them.
 */
export class PacketReader {
  readonly #source: PacketSource;
  readonly #pieceBytes: number;
  #rest: Bytes | undefined;

  constructor(source: PacketSource, pieceBytes = usualPieceBytes) {
    this.#source = source;
    this.#pieceBytes = pieceBytes;
  }

  /** Undefined at the end. */
  read(): Promise<Bytes | undefined> {
    if (this.#rest !== undefined) return nextTurn().then(() => this.#cut(this.#rest));
    return this.#source.read().then(this.#cut);
  }

  cancel(): void {
    this.#source.cancel();
  }

  readonly #cut = (packet: Bytes | undefined): Bytes | undefined => {
    const isLong = packet !== undefined && packet.length > this.#pieceBytes;
    this.#rest = isLong ? packet.subarray(this.#pieceBytes) : undefined;
    return isLong ? packet.subarray(0, this.#pieceBytes) : packet;
  };
}
