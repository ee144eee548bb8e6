import { spyOn } from "bun:test";
import type { TestGateway } from "../setup/harness.ts";
import { useTestGateway } from "../setup/use-gateway.ts";

/** What a client runs against: the real gateway in front of recorded bytes. */
export interface Stage {
  readonly gateway: TestGateway;
}

/** One gateway for all checks of a suite; call it inside the suite. */
export const openStage = (): Stage => ({ gateway: useTestGateway() });

/** A JSON body that the upstream received. Default: the last one. */
export function sentUpstream({ upstream }: TestGateway, at = -1): Record<string, unknown> {
  return upstream.requests.at(at)?.json as Record<string, unknown>;
}

/** The error that a call throws, of any class. */
export async function failureOf(call: PromiseLike<unknown>): Promise<Error> {
  const thrown: unknown = await Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof Error) return thrown;
  throw new Error("the call did not fail");
}

/**
 * The delays in milliseconds that `setTimeout` got while this ran. Clients do not report how long
 * they wait before a retry, so tests send a hint with an odd number and look for it here.
 */
export async function waitsDuring(run: () => Promise<unknown>): Promise<readonly unknown[]> {
  const timers = spyOn(globalThis, "setTimeout");
  try {
    await run();
    return timers.mock.calls.map(([, ms]) => ms);
  } finally {
    timers.mockRestore();
  }
}
