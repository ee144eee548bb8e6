/** What a fake upstream does on the wire for one request, step by step. */

import type { Bytes, Recording } from "./http/reply.ts";

export type Step =
  /** `everyByte` and `pieces` (offsets to cut at) make each piece a TCP write of its own. */
  | { readonly send: Bytes; readonly everyByte?: true; readonly pieces?: readonly number[] }
  | { readonly until: Promise<unknown> }
  /** Sends `chunk` (64 KiB of zeros unless told) again and again, until at least this many bytes. */
  | { readonly flood: number; readonly chunk?: Bytes }
  /**
   * A TCP RST. It may overtake bytes that the reader has not read yet: where those matter, put an
   * `until` before it that resolves when they have been seen.
   */
  | { readonly reset: true }
  /** A FIN, whatever the framing promised. */
  | { readonly close: true }
  /** Says nothing more until the client leaves. */
  | { readonly hang: true };

/**
 * Behind the last step the reply's own framing decides: a complete reply leaves the connection open
 * for the next request (unless either side said `connection: close`), one without a length ends
 * with the connection, and an incomplete or empty one hangs until the client leaves.
 */
export type Script = readonly Step[];

export type Reply = Recording | Script | Bytes;

export function toScript(reply: Reply): Script {
  if (typeof reply === "string" || reply instanceof Uint8Array) return [{ send: reply }];
  if ("bytes" in reply) return [{ send: reply.bytes }];
  return reply;
}

export function byteByByte(recording: Recording): Script {
  return [{ send: recording.bytes, everyByte: true }];
}

export function inPieces(recording: Recording, pieces: readonly number[]): Script {
  return [{ send: recording.bytes, pieces }];
}

/** Holds the reply back after its head and this many parts of its body. */
export function pausedAfter(options: {
  readonly recording: Recording;
  readonly parts: number;
  readonly until: Promise<unknown>;
}): Script {
  const { recording, parts, until } = options;
  return [
    { send: Buffer.concat([recording.head, ...recording.parts.slice(0, parts)]) },
    { until },
    { send: Buffer.concat([...recording.parts.slice(parts), recording.end]) },
  ];
}

/** Breaks the reply off after its head and this many parts of its body. */
export function cutAfter(options: {
  readonly recording: Recording;
  readonly parts: number;
  readonly by: "reset" | "close" | "hang";
  readonly until?: Promise<unknown>;
}): Script {
  const { recording, parts, by, until } = options;
  const cuts = {
    reset: { reset: true },
    close: { close: true },
    hang: { hang: true },
  } as const satisfies Record<typeof by, Step>;
  return [
    { send: Buffer.concat([recording.head, ...recording.parts.slice(0, parts)]) },
    ...(until === undefined ? [] : [{ until }]),
    cuts[by],
  ];
}
