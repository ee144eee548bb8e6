/**
 * One provider and nothing around it: no keys, no checks, no money, no limits, no router. It does what
 * the bare proxy does, by way of a provider: parses every request, reply and event, and writes it anew.
 */
import { systemClock } from "../../src/base/clock.ts";
import type { ChatCall, ChatPart, JsonObject } from "../../src/call/chat.ts";
import { quirksOf } from "../../src/catalog/vendors.ts";
import { ProviderRegistry } from "../../src/providers/registry.ts";
import { ChatEventWriter } from "../../src/wire/v1/chat/events.ts";
import { toChatReply } from "../../src/wire/v1/chat/reply.ts";
import { announce } from "../load/processes.ts";
import { publicModel, upstreamModel } from "../load/traffic.ts";

const [, , kind = "openai", port = ""] = process.argv;
const baseUrl = `http://127.0.0.1:${port}/v1`;
if (kind !== "openai" && kind !== "gemini" && kind !== "anthropic")
  throw new Error(`${kind} is not measured`);
const provider = new ProviderRegistry().build({
  name: kind,
  kind,
  baseUrl,
  apiKey: "upstream",
  allowPrivate: true,
  options: {},
  quirks: quirksOf(undefined, baseUrl),
});
const { chat, streamChat } = provider;
if (chat === undefined || streamChat === undefined) throw new Error(`${kind} cannot chat`);

const target = { model: upstreamModel };
const onAccepted = () => {};
const encoder = new TextEncoder();

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    const body = (await request.json()) as JsonObject;
    const { signal } = request;
    const call = toCall(body);
    const identity = {
      id: `chatcmpl-${crypto.randomUUID()}`,
      createdS: Math.floor(Date.now() / 1000),
      clock: systemClock,
      model: publicModel,
      modelId: publicModel,
    };
    if (body["stream"] !== true) {
      const result = await chat({ call, target, signal, onAccepted });
      if (result.usage === undefined) throw new Error("no usage came");
      const text = toChatReply(identity, result, result.usage);
      return new Response(text, { headers: { "content-type": "application/json" } });
    }
    const stream = await streamChat({ call, target, signal, onAccepted });
    const writer = new ChatEventWriter(identity, { includeUsage: true, choices: 1 });
    return new Response(toEvents(stream, writer), {
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
    });
  },
});
announce(server.port);

function toCall(body: JsonObject): ChatCall {
  const { messages, max_tokens: cap, model: _model, stream: _stream, ...rest } = body;
  const { stream_options: _options, ...options } = rest;
  return {
    messages: messages as readonly JsonObject[],
    maxOutputTokens: cap as number | undefined,
    options,
  };
}

function toEvents(
  stream: { read(): Promise<readonly ChatPart[] | undefined>; cancel(): void },
  writer: ChatEventWriter,
): ReadableStream<Uint8Array> {
  let usage: Extract<ChatPart, { type: "usage" }>["usage"] | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const parts = await stream.read();
          let text = "";
          let isDone = false;
          for (const part of parts ?? []) {
            if (part.type === "usage") usage = part.usage;
            else if (part.type === "done") isDone = true;
            else text += writer.write(part);
          }
          if (isDone || parts === undefined) {
            if (usage === undefined || !isDone) throw new Error("the stream has no proper end");
            controller.enqueue(encoder.encode(text + writer.end(usage)));
            return controller.close();
          }
          if (text !== "") return controller.enqueue(encoder.encode(text));
        }
      },
      cancel: () => stream.cancel(),
    },
    { highWaterMark: 0 },
  );
}
