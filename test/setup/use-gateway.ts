import { afterAll, beforeAll, beforeEach } from "bun:test";
import {
  standardManifest,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
  withOwnAccount,
} from "./harness.ts";

/** By manifest; they run until the process ends. */
const shared = new Map<string, Promise<TestGateway>>();

/** The running gateway of this manifest, called with the key of a new account. */
export async function openShared(manifest = standardManifest): Promise<TestGateway> {
  const started = shared.get(manifest) ?? startTestGateway({ manifest });
  shared.set(manifest, started);
  return {
    ...(await withOwnAccount(await started)),
    stop: () => Promise.reject(new Error("A shared gateway runs until its process ends.")),
  };
}

/**
 * One gateway for all tests of a file or of a `describe`, with an account of their own, its upstream
 * reset before each test. The properties can be read once a test or hook runs.
 *
 * Files that need nothing but a manifest share one gateway per process. A file that changes what
 * others see (catalog, limits, sums, clock), or that depends on what the gateway has learned about a
 * model (whether it hides its reasoning: then a disconnect does not abort), starts its own, with
 * `isOwn`.
 */
export function useTestGateway(
  options: TestGatewayOptions & { readonly isOwn?: boolean } = {},
): TestGateway {
  const { manifest = standardManifest, isOwn = false, ...rest } = options;
  const isShared = !isOwn && Object.keys(rest).length === 0;
  const held: { gateway?: TestGateway } = {};
  beforeAll(async () => {
    held.gateway = isShared
      ? await openShared(manifest)
      : await startTestGateway({ manifest, ...rest });
  });
  afterAll(async () => {
    if (!isShared) await held.gateway?.stop();
  });
  beforeEach(() => held.gateway?.upstream.reset());
  return new Proxy({} as TestGateway, {
    get(_, name: keyof TestGateway) {
      if (held.gateway === undefined) throw new Error("The gateway has not started.");
      return held.gateway[name];
    },
  });
}
