import type { Exchange } from "./exchange.ts";

/** Larger replies are counted until they have gone out. */
const smallBytes = 64 * 1024;
const writtenAtOnce = 256 * 1024;

/** The runtime's own sink: a promise where the socket is full; it resolves when there is room. */
interface Sink {
  write(piece: Uint8Array): number | Promise<number>;
  flush(): void;
  end(): void;
}

/** JSON that counts as the memory of its request: until a slow caller has taken it, or has left. */
export function sendPieces(exchange: Exchange, pieces: readonly Uint8Array[]): Response {
  const { request } = exchange;
  const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  if (sizeBytes <= smallBytes || request.method === "HEAD") {
    exchange.leave();
    return exchange.json(Buffer.concat(pieces).toString());
  }
  const left = Promise.withResolvers<void>();
  const leave = () => {
    exchange.leave();
    left.resolve();
  };
  request.signal.addEventListener("abort", leave);
  if (request.signal.aborted) leave();
  const pull = async (sink: Sink) => {
    try {
      await Promise.race([write(sink, pieces), left.promise]);
    } finally {
      leave();
      sink.end();
    }
  };
  // The types of the runtime know this kind of stream only by another name.
  const source = { type: "direct", pull, cancel: leave } as unknown as UnderlyingByteSource;
  return exchange.reply(new ReadableStream(source), "application/json");
}

async function write(sink: Sink, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += writtenAtOnce) {
      const taken = sink.write(piece.subarray(at, at + writtenAtOnce));
      sink.flush();
      if (taken instanceof Promise) await taken;
    }
}
