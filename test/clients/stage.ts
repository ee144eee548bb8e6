import { spyOn } from "bun:test";
import { chatChunk, chatStream, DONE, type Recording } from "../fake/recordings.ts";
import type { TestGateway } from "../setup/harness.ts";
import { useTestGateway } from "../setup/use-gateway.ts";

/** What a client runs against: the real gateway in front of recorded bytes. */
export interface Stage {
  readonly gateway: TestGateway;
}

/** One gateway for all checks of a suite; call it inside the suite. */
export const openStage = (): Stage => ({ gateway: useTestGateway({ isOwn: true }) });

/** With `gpt`, a model that is called in the Responses format. */
export const nativeManifest = `
providers:
  plain: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true, image_urls: true }
  vendor: { kind: openai, vendor: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: plain, model: any }] }
  gpt: { endpoint: chat, price: { input: 1, output: 10 }, routes: [{ provider: vendor, model: gpt-5 }] }
`;

/** A JSON body that the upstream received. Default: the last one. */
export function sentUpstream({ upstream }: TestGateway, at = -1): Record<string, unknown> {
  return upstream.requests.at(at)?.json as Record<string, unknown>;
}

/** A stream in which the model calls get_weather for Oslo, after a thought if there is one. */
export function weatherCall(thought?: string): Recording {
  const called = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: "get_weather", arguments: '{"city":"Oslo","unit":"celsius"}' },
  };
  return chatStream({
    events: [
      ...(thought === undefined ? [] : [chatChunk({ delta: { reasoning_content: thought } })]),
      chatChunk({ delta: { tool_calls: [called] } }),
      chatChunk({ finish: "tool_calls" }),
      DONE,
    ],
  });
}

/** The chunks of a LangChain stream as one. */
export async function collect<T extends { concat(next: T): T }>(
  stream: AsyncIterable<T>,
  look: (chunk: T) => void = () => {},
): Promise<T> {
  let whole: T | undefined;
  for await (const chunk of stream) {
    look(chunk);
    whole = whole === undefined ? chunk : whole.concat(chunk);
  }
  if (whole === undefined) throw new Error("the stream was empty");
  return whole;
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
 * How often a timer of this many milliseconds was set while this ran; each ends at once. Clients do
 * not report how long they wait before a retry, so tests send a hint with an odd number.
 */
export async function waitsDuring(hintMs: number, run: () => Promise<unknown>): Promise<number> {
  const real = globalThis.setTimeout;
  const timers = spyOn(globalThis, "setTimeout");
  const impatient = (then: () => void, ms?: number) => real(then, ms === hintMs ? 0 : ms);
  timers.mockImplementation(Object.assign(impatient, real));
  try {
    await run();
    return timers.mock.calls.filter(([, ms]) => ms === hintMs).length;
  } finally {
    timers.mockRestore();
  }
}
