import { setImmediate } from "node:timers/promises";
import { CustomSource, type EncodedPacketSink, type PacketRetrievalOptions } from "mediabunny";
import type { EngineError } from "./contract.ts";

/**
 * Ends a search that does not get on: on some damaged files the reader looks at the same place
 * forever, and gives nobody else a turn meanwhile.
 */
export class ReadBudget {
  private static readonly max = 50_000;
  private left = ReadBudget.max;

  spend(): void {
    if (this.left === 0) throw new Error("the reader makes no progress");
    this.left--;
  }

  renew(): void {
    this.left = ReadBudget.max;
  }
}

// Without a cache every read comes by here, and the bytes are in memory anyway.
export function toSource(bytes: Uint8Array, reads: ReadBudget): CustomSource {
  return new CustomSource({
    getSize: () => bytes.length,
    read: (start, end) => {
      reads.spend();
      return bytes.subarray(start, end);
    },
    maxCacheSize: 0,
    // The read that failed tells as much.
    handleUnhandledError: () => undefined,
  });
}

interface PacketsOptions {
  readonly options: PacketRetrievalOptions;
  readonly signal: AbortSignal;
  readonly reads: ReadBudget;
  readonly damaged: () => EngineError;
}

export async function* packetsOf(
  sink: EncodedPacketSink,
  { options, signal, reads, damaged }: PacketsOptions,
) {
  let packet = await reading(() => sink.getFirstPacket(options), damaged);
  for (let count = 0; packet; count++) {
    // Nothing else lets go of the thread, and so the news that the caller has left would not come.
    if (count % 16 === 0) await setImmediate();
    signal.throwIfAborted();
    reads.renew();
    yield packet;
    const previous = packet;
    packet = await reading(() => sink.getNextPacket(previous, options), damaged);
  }
}

/** The container's reader throws whatever it stumbles over. */
export async function reading<Result>(
  read: () => Promise<Result>,
  damaged: () => EngineError,
): Promise<Result> {
  try {
    return await read();
  } catch {
    throw damaged();
  }
}
