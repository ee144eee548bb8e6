/** The largest row is a stored response of 20 MiB, which the server sends in hexadecimal digits. */
const maxMessageBytes = 64 * 1024 * 1024;
/** Its kind, and its length without the kind. */
const headBytes = 5;
const lengthBytes = 4;

export interface ByteStream {
  on(event: string, listener: (chunk: Uint8Array) => void): unknown;
}

/**
 * For the driver, which keeps a message until it is whole and throws at one that it cannot read: what
 * is not from a PostgreSQL server would fill the memory, or end the process. The stream that it
 * returns passes such a fault on, and nothing after it.
 */
export function boundMessages(stream: ByteStream, onFault: (fault: Error) => void): ByteStream {
  let isBroken = false;
  const guard = (listener: (chunk: Uint8Array) => void) => {
    const bound = new MessageBound();
    return (chunk: Uint8Array) => {
      if (isBroken) return;
      try {
        bound.check(chunk);
        listener(chunk);
      } catch (error) {
        isBroken = true;
        onFault(error instanceof Error ? error : new Error(String(error)));
      }
    };
  };
  return {
    on: (event, listener) => stream.on(event, event === "data" ? guard(listener) : listener),
  };
}

/** Follows the lengths of messages, however they are cut into chunks. */
class MessageBound {
  #head = 0;
  #length = 0;
  /** Of the message whose head was read. */
  #left = 0;

  check(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
        continue;
      }
      this.#length = (this.#length * 256 + (chunk[at] ?? 0)) % 2 ** 32;
      at++;
      this.#head++;
      if (this.#head < headBytes) continue;
      if (this.#length < lengthBytes || this.#length > maxMessageBytes)
        throw new Error("what the database server sent is not of PostgreSQL");
      this.#left = this.#length - lengthBytes;
      this.#head = 0;
      this.#length = 0;
    }
  }
}
