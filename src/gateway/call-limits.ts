import type { Endpoint } from "../call/endpoint.ts";
import type { Timeouts } from "../catalog/model.ts";

export interface CallLimits {
  readonly connectMs: number;
  readonly maxCallMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly readerMs: number;
  readonly keepAliveMs: number;
}

/** What has its own time limits: those of the process, unless it says otherwise. */
export interface TimedModel {
  readonly endpoint: Endpoint;
  readonly timeouts?: Timeouts;
  readonly routes?: readonly unknown[];
}

/** Vectors and sounds begin sooner than long thoughts do. */
const firstByteOff: Readonly<Record<Endpoint, number>> = {
  chat: Number.POSITIVE_INFINITY,
  embeddings: 60_000,
  speech: 120_000,
  // An hour of audio is listened to before the first word is sent.
  transcription: Number.POSITIVE_INFINITY,
};

/** The limits of the process, with what the model sets itself. */
export function limitsFor(model: TimedModel, usual: CallLimits): CallLimits {
  const { endpoint, timeouts = {}, routes = [] } = model;
  const { connect, firstByte, idle, total } = timeouts;
  const ms = (seconds: number | undefined, otherwise: number) =>
    seconds === undefined ? otherwise : Math.round(seconds * 1000);
  const maxCallMs = ms(total, usual.maxCallMs);
  // A target that says nothing leaves half of the time to the others.
  const shareMs = routes.length > 1 ? maxCallMs / 2 : maxCallMs;
  const told = ms(firstByte, Math.min(usual.firstByteMs, firstByteOff[endpoint]));
  const firstByteMs = Math.min(told, shareMs);
  return {
    ...usual,
    connectMs: ms(connect, usual.connectMs),
    firstByteMs,
    idleMs: ms(idle, usual.idleMs),
    maxCallMs,
  };
}
