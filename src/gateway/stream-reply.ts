import { monotonicMs } from "../base/clock.ts";
import { type ApiError, toApiError } from "../base/errors.ts";
import { type ActiveCall, callerLeft } from "./active-calls.ts";

export interface StreamSource {
  /** The next bytes for the caller, or undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Frees the upstream. */
  cancel(): void;
  /** The last bytes after a failure; undefined: the connection is broken off. */
  fail(error: ApiError): Uint8Array | undefined;
  /** What keeps a silent stream alive, if anything may. */
  readonly keepAlive?: Uint8Array | undefined;
}

export interface StreamReplyOptions {
  readonly call: ActiveCall;
  readonly source: StreamSource;
  /** Called exactly once, whatever ended the stream. */
  readonly onEnd: (error: ApiError | undefined) => void;
}

/**
 * A standard pull stream: the upstream is read only when the caller has taken what was sent, so a
 * slow reader slows the upstream instead of filling our memory.
 */
export function toReplyStream({
  call,
  source,
  onEnd,
}: StreamReplyOptions): ReadableStream<Uint8Array> {
  let isOver = false;
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  const over = (error: ApiError | undefined) => {
    if (isOver) return;
    isOver = true;
    call.onSilence = undefined;
    call.onAbort = undefined;
    call.onLeave = undefined;
    onEnd(error);
  };
  // A reader that has gone silent never pulls again: its connection is broken off from here.
  call.onAbort = () => {
    source.cancel();
    if (isOver || !call.isWaitingForReader) return;
    breakOff(toApiError(call.reason));
  };
  const breakOff = (reason: ApiError) => {
    over(reason);
    // What is measured after that still needs the upstream freed in the end.
    call.onAbort = () => source.cancel();
    sink?.error(reason);
  };
  call.onLeave = (reason) => {
    if (!isOver) breakOff(reason);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        sink = controller;
        const { keepAlive } = source;
        if (keepAlive !== undefined) call.onSilence = () => controller.enqueue(keepAlive);
      },
      async pull(controller) {
        call.waitForUpstream(monotonicMs());
        try {
          const bytes = await source.next();
          if (isOver) return;
          call.waitForReader(monotonicMs(), bytes !== undefined && bytes === source.keepAlive);
          if (bytes !== undefined) return controller.enqueue(bytes);
          over(undefined);
          controller.close();
        } catch (thrown) {
          if (isOver) return;
          const error = toApiError(call.reason ?? thrown);
          over(error);
          const bytes = source.fail(error);
          source.cancel();
          if (bytes === undefined) return controller.error(error);
          controller.enqueue(bytes);
          controller.close();
        }
      },
      cancel() {
        if (isOver) return;
        isOver = true;
        call.onSilence = undefined;
        const reason = callerLeft("the caller closed the connection");
        // Aborting frees the upstream (`onAbort`), at once or when it has told what it used.
        call.leave(reason);
        onEnd(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
