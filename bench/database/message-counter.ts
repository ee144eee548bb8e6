/**
 * Counts the messages of one direction of a PostgreSQL connection by their headers: a letter, then a
 * length of four bytes that counts itself. Only the first message of a client has no letter.
 */
export class MessageCounter {
  bytes = 0;
  messages = 0;
  /** Of a client: each asks the server to work and to answer. */
  calls = 0;
  readonly #header = Buffer.alloc(headerBytes);
  #headerFilled = 0;
  #bodyLeft = 0;
  #hasLetter: boolean;

  constructor(from: "client" | "server") {
    this.#hasLetter = from === "server";
  }

  add(data: Uint8Array): void {
    this.bytes += data.length;
    let at = 0;
    while (at < data.length) {
      if (this.#bodyLeft > 0) {
        const skipped = Math.min(this.#bodyLeft, data.length - at);
        this.#bodyLeft -= skipped;
        at += skipped;
        continue;
      }
      this.#header[this.#headerFilled++] = data[at++] ?? 0;
      if (this.#headerFilled === (this.#hasLetter ? headerBytes : lengthBytes)) this.#begin();
    }
  }

  #begin(): void {
    const lengthAt = this.#hasLetter ? 1 : 0;
    this.#bodyLeft = Math.max(0, this.#header.readUInt32BE(lengthAt) - lengthBytes);
    this.messages++;
    if (this.#hasLetter && callLetters.includes(this.#header[0] ?? 0)) this.calls++;
    this.#headerFilled = 0;
    this.#hasLetter = true;
  }
}

const lengthBytes = 4;
const headerBytes = 5;
/** Query and Sync: after either, the server says that it is ready. */
const callLetters = Buffer.from("QS");
