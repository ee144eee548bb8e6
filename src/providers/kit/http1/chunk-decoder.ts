import { MalformedReplyError } from "./reply-head.ts";

type Expected =
  | "size"
  | "size-end"
  | "extension"
  | "size-lf"
  | "data"
  | "data-cr"
  | "data-lf"
  | "trailer"
  | "end-lf";

const cr = 0x0d;
const lf = 0x0a;
/** Sizes of up to a tebibyte; a longer number is no size. */
const maxSizeDigits = 10;
const shortBytes = 32;
/** Of extensions and trailers, in a whole reply: nobody uses either. */
const maxExtraBytes = 64 * 1024;

/**
 * Takes the chunks of a body out of their frames. Packets may be cut anywhere. Data stays where it
 * is in the packet; that of later chunks moves up to it, so a packet of many chunks becomes one
 * piece without a copy of its own.
 */
export class ChunkDecoder {
  /** Where the data of the packet that was pushed last begins and ends. */
  start = 0;
  end = 0;
  /** The last chunk and the trailer are here. */
  isDone = false;
  /** What follows the body in the packet that ended it. */
  restBytes = 0;
  #expected: Expected = "size";
  #sizeDigits = 0;
  #leftBytes = 0;
  #extraBytes = 0;
  #lineBytes = 0;

  /** Its bytes from `from` on. Changes the packet in place. Throws a MalformedReplyError. */
  push(packet: Uint8Array, from = 0): void {
    let at = from;
    let hasData = false;
    this.start = at;
    this.end = at;
    while (at < packet.length && !this.isDone) {
      if (this.#expected !== "data") {
        this.#frame(packet[at++] ?? 0);
        continue;
      }
      const stop = Math.min(at + this.#leftBytes, packet.length);
      this.#leftBytes -= stop - at;
      if (this.#leftBytes === 0) this.#expected = "data-cr";
      if (hasData) {
        // Short ones byte by byte: of thousands in a packet, native calls would take most of the time.
        if (stop - at > shortBytes) packet.copyWithin(this.end, at, stop);
        else for (let to = this.end, of = at; of < stop; ) packet[to++] = packet[of++] ?? 0;
        this.end += stop - at;
      } else {
        hasData = true;
        this.start = at;
        this.end = stop;
      }
      at = stop;
    }
    this.restBytes = packet.length - at;
  }

  #frame(byte: number): void {
    switch (this.#expected) {
      case "size":
        return this.#size(byte);
      case "size-end":
        this.#countExtra();
        return this.#sizeEnd(byte);
      case "extension":
        this.#countExtra();
        if (byte === cr) this.#expected = "size-lf";
        else if (byte === lf) throw broken();
        return;
      case "size-lf":
        if (byte !== lf) throw broken();
        this.#sizeDigits = 0;
        this.#lineBytes = 0;
        this.#expected = this.#leftBytes === 0 ? "trailer" : "data";
        return;
      case "data-cr":
        if (byte !== cr) throw broken();
        this.#expected = "data-lf";
        return;
      case "data-lf":
        if (byte !== lf) throw broken();
        this.#expected = "size";
        return;
      case "trailer":
        return this.#trailer(byte);
      case "end-lf":
        if (byte !== lf) throw broken();
        // An empty line ends the trailer.
        this.isDone = this.#lineBytes === 0;
        this.#lineBytes = 0;
        this.#expected = "trailer";
        return;
      default:
        throw broken();
    }
  }

  #size(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== undefined) {
      if (++this.#sizeDigits > maxSizeDigits) throw broken();
      this.#leftBytes = this.#leftBytes * 16 + digit;
      return;
    }
    if (this.#sizeDigits === 0) throw broken();
    this.#sizeEnd(byte);
  }

  /** Some servers pad the size with spaces. */
  #sizeEnd(byte: number): void {
    if (byte === cr) this.#expected = "size-lf";
    else if (byte === 0x3b) this.#expected = "extension";
    else if (byte === 0x20 || byte === 0x09) this.#expected = "size-end";
    else throw broken();
  }

  #trailer(byte: number): void {
    if (byte === lf) throw broken();
    if (byte === cr) {
      this.#expected = "end-lf";
      return;
    }
    this.#countExtra();
    this.#lineBytes++;
  }

  #countExtra(): void {
    if (++this.#extraBytes > maxExtraBytes) throw broken();
  }
}

function hexDigit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}

const broken = () => new MalformedReplyError("a chunk is malformed");
