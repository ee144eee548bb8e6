import { DeliveryFailure } from "./delivery-failure.ts";

/** Rejects with the signal, also where the work itself does not end: file operations cannot be aborted. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () =>
    reject(new DeliveryFailure("it did not answer in time", { cause: signal.reason }));
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
