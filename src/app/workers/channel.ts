import { ApiError } from "../../base/errors.ts";
import type { Signal } from "../../call/signal.ts";
import type { EngineAccess } from "../gateway-state.ts";
import type { EngineRefusal, FromWorker, ToWorker } from "./messages.ts";

/** The process, as far as the channel to its supervisor is concerned. */
export interface ChannelProcess {
  send?(message: FromWorker): void;
  on(event: "message", listener: (message: ToWorker) => void): void;
}

export interface ChannelOptions {
  readonly process: ChannelProcess;
  readonly metricsText: () => string;
  /** Requests in flight. */
  readonly pending: () => number;
  readonly endConnections: (count: number) => void;
}

const sampleEveryMs = 250;
const samplesPerReport = 4;

/** A worker's side of the channel, once it listens. */
export function openChannel(options: ChannelOptions): { close(): void } {
  const { process, metricsText, pending, endConnections } = options;
  process.on("message", (message) => {
    if (message.type === "metrics")
      process.send?.({ type: "metrics", id: message.id, text: metricsText() });
    if (message.type === "end-connections") endConnections(message.count);
  });
  let sum = 0;
  let samples = 0;
  const timer = setInterval(() => {
    sum += pending();
    if (++samples < samplesPerReport) return;
    process.send?.({ type: "load", pending: sum / samples });
    sum = 0;
    samples = 0;
  }, sampleEveryMs);
  timer.unref();
  process.send?.({ type: "listening" });
  return {
    close() {
      clearInterval(timer);
      process.send?.({ type: "ending", text: metricsText() });
    },
  };
}

/** The engine belongs to the supervisor: it knows what is ready and what is still being loaded. */
export function engineOverChannel(process: ChannelProcess): EngineAccess {
  const asked = new Map<number, (refusal: EngineRefusal | undefined) => void>();
  let question = 0;
  process.on("message", (message) => {
    if (message.type === "engine") asked.get(message.id)?.(message.refusal);
  });
  return {
    async whenReady(model, signal: Signal) {
      const id = ++question;
      const { promise, resolve, reject } = Promise.withResolvers<EngineRefusal | undefined>();
      asked.set(id, resolve);
      const abort = () => reject(signal.reason);
      signal.addEventListener("abort", abort);
      try {
        process.send?.({ type: "engine", id, model });
        const refusal = await promise;
        if (refusal !== undefined) throw new ApiError(refusal);
      } finally {
        asked.delete(id);
        signal.removeEventListener("abort", abort);
      }
    },
    // The supervisor reads the catalog itself.
    need: () => {},
  };
}
