import { afterAll, beforeAll, beforeEach } from "bun:test";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./harness.ts";

/**
 * One gateway for all tests of a file or of a `describe`, its upstream reset before each of them.
 * It can be named before it has started: it is looked up when a test uses it.
 */
export function useTestGateway(options: TestGatewayOptions = {}): TestGateway {
  const held: { gateway?: TestGateway } = {};
  beforeAll(async () => {
    held.gateway = await startTestGateway(options);
  });
  afterAll(() => held.gateway?.stop());
  beforeEach(() => held.gateway?.upstream.reset());
  return new Proxy({} as TestGateway, {
    get(_, name: keyof TestGateway) {
      if (held.gateway === undefined) throw new Error("the gateway has not started");
      return held.gateway[name];
    },
  });
}
