import { nextTurn } from "../../base/clock.ts";
import { type Bytes, Piece, type UpstreamReply } from "./reply.ts";

/** What is parsed without a break: some milliseconds, whatever is in it. */
const usualPieceBytes = 128 * 1024;

type PacketSource = Pick<UpstreamReply, "next" | "cancel">;

/**
 * Reads a body a packet at a time. A packet of megabytes, which comes when an upstream is faster
 * than we are, is handed on in pieces, with a turn of the event loop for others between them.
 */
export class PacketReader {
  readonly #source: PacketSource;
  readonly #pieceBytes: number;
  #rest: Piece | undefined;

  constructor(source: PacketSource, pieceBytes = usualPieceBytes) {
    this.#source = source;
    this.#pieceBytes = pieceBytes;
  }

  /** Undefined at the end. */
  next(): Promise<Piece | undefined> {
    if (this.#rest !== undefined) return nextTurn().then(() => this.#cut(this.#rest));
    return this.#source.next().then(this.#cut);
  }

  /** The same as bytes. */
  async read(): Promise<Bytes | undefined> {
    return (await this.next())?.bytes;
  }

  cancel(): void {
    this.#source.cancel();
  }

  readonly #cut = (piece: Piece | undefined): Piece | undefined => {
    this.#rest = undefined;
    if (piece === undefined || piece.length <= this.#pieceBytes) return piece;
    const { packet, start, end } = piece;
    const stop = start + this.#pieceBytes;
    this.#rest = new Piece(packet, stop, end);
    return new Piece(packet, start, stop);
  };
}
