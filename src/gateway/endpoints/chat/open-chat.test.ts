import { expect, test } from "bun:test";
import { systemClock } from "../../../base/clock.ts";
import { createLog } from "../../../base/log.ts";
import type { ChatPart, ChatStream } from "../../../call/chat.ts";
import { Catalog } from "../../../catalog/catalog.ts";
import type { Model } from "../../../catalog/model.ts";
import { KeyDirectory } from "../../../keys/directory.ts";
import { Router } from "../../../router/router.ts";
import { ActiveCalls } from "../../active-calls.ts";
import { Exchange } from "../../exchange.ts";
import type { GatewayParts } from "../../gateway.ts";
import { serveChat } from "./chat.ts";

const model: Model = {
  id: "m",
  endpoint: "chat",
  input: "text",
  ownedBy: "svc",
  createdAtMs: 0,
  lifecycle: {},
  routes: [{ provider: "vendor", model: "m", weight: 1 }],
};
const hourMs = 3_600_000;

/** A gateway without keys and models of its own, whose one provider streams this. */
function partsWith(stream: ChatStream): GatewayParts {
  const keys = { all: async () => [], get: async () => undefined, insert: async () => {} };
  const catalog = { write: async () => {}, manifestHash: async () => undefined };
  return {
    keys: new KeyDirectory({ ...keys, revoke: async () => false }, new Uint8Array(32)),
    catalog: new Catalog({ ...catalog, load: async () => ({ providers: [], models: [] }) }),
    router: new Router({
      findProvider: (name) => ({ name, streamChat: async () => stream }),
    }),
    calls: new ActiveCalls({
      maxCallMs: hourMs,
      firstByteMs: hourMs,
      idleMs: hourMs,
      readerMs: hourMs,
      keepAliveMs: hourMs,
    }),
    clock: systemClock,
    log: createLog({ level: "silent", pretty: false, write: () => {} }),
    origins: new Set(),
    publicUrl: () => "http://gateway.example",
  };
}

/** Says this, and then neither more nor its end. */
function openEnded(batches: readonly (readonly ChatPart[])[]) {
  const left = [...batches];
  const cancelled = Promise.withResolvers<string>();
  const stream: ChatStream = {
    read: async () => left.shift() ?? new Promise(() => {}),
    cancel: () => cancelled.resolve("cancelled"),
  };
  return { stream, cancelled: cancelled.promise };
}

function streamFrom(stream: ChatStream): Promise<Response> {
  const parts = partsWith(stream);
  return serveChat({
    parts,
    exchange: new Exchange(new Request("http://gateway.example/v1/chat/completions"), 0, parts),
    body: { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true },
    model,
    call: parts.calls.begin(),
    end: () => {},
  });
}

test("a stream that is done before it has said a word has failed, and its end is not waited for", async () => {
  const usage = { inputTokens: 1, outputTokens: 0, estimated: false };
  for (const batches of [
    [[{ type: "done" }]],
    [[{ type: "usage", usage }, { type: "done" }]],
    [[{ type: "usage", usage }], [{ type: "done" }]],
  ] as const) {
    const { stream, cancelled } = openEnded(batches);
    const outcome = await streamFrom(stream).then(
      () => "opened",
      (error: Error) => error.message,
    );
    expect(outcome).toBe("The model failed to answer.");
    expect(await cancelled).toBe("cancelled");
  }
});

test("a stream that has said a word is opened, although no more has come", async () => {
  const { stream } = openEnded([[{ type: "text-delta", index: 0, text: "Hi" }]]);
  const reader = (await streamFrom(stream)).body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  expect(new TextDecoder().decode(value)).toContain('"content":"Hi"');
  await reader?.cancel();
});
