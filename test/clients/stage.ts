import { afterAll, beforeAll, beforeEach, spyOn } from "bun:test";
import type { SetName } from "../../engine/weights/sets.ts";
import { type EngineHome, startEngineHome } from "../setup/engine-home.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";

/** What a client is tried against. */
export interface Stage {
  /** In front of recorded bytes, where it matters what the model says or gets. */
  readonly gateway: TestGateway;
  /** In front of the embedded models, where any words will do. */
  readonly engine: EngineHome;
}

/** One of each for all checks of a suite; call it inside the suite. */
export function openStage(sets: readonly SetName[]): Stage {
  let gateway: TestGateway | undefined;
  let engine: EngineHome | undefined;
  beforeAll(async () => {
    gateway = await startTestGateway();
    engine = await startEngineHome({ sets });
  }, 900_000);
  beforeEach(() => gateway?.upstream.reset());
  afterAll(async () => {
    await gateway?.stop();
    await engine?.stop();
  }, 60_000);
  return {
    get gateway() {
      return started(gateway);
    },
    get engine() {
      return started(engine);
    },
  };
}

function started<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error("the stage is not open yet");
  return thing;
}

/** A JSON body that the upstream got; the last one unless told. */
export function sentUpstream({ upstream }: TestGateway, at = -1): Record<string, unknown> {
  return upstream.requests.at(at)?.json as Record<string, unknown>;
}

/** What a call throws, whatever its class. */
export async function failureOf(call: PromiseLike<unknown>): Promise<Error> {
  const thrown: unknown = await Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof Error) return thrown;
  throw new Error("the call did not fail");
}

/**
 * The waits in milliseconds that were asked for while this ran. Clients wait with setTimeout and
 * tell nobody for how long; an odd number of milliseconds in a hint is found among all of them.
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
