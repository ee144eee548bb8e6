import { expect, test } from "bun:test";
import type { JsonObject } from "../../call/chat.ts";
import { FetchReply } from "../kit/reply.ts";
import { toCallOptions } from "./chat/call-options.ts";
import { WholeReply } from "./chat/whole-reply.ts";
import { isFields, type LanguageModel } from "./model.ts";

/** A model of a package of the given version, which is asked for nothing here. */
const modelOf = (specificationVersion: string): LanguageModel => ({
  specificationVersion,
  provider: "some-vendor.chat",
  supportedUrls: Promise.resolve({ "image/*": [/^https:\/\/images\.example\//] }),
  doGenerate: () => Promise.reject(new Error("not asked for")),
  doStream: () => Promise.reject(new Error("not asked for")),
});

const ask = (version: string, options: JsonObject) =>
  toCallOptions({
    takesUrls: true,
    call: {
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "image_url", image_url: { url: "https://images.example/a.png" } },
          ],
        },
      ],
      maxOutputTokens: 100,
      options,
    },
    model: modelOf(version),
    modelId: "some-model",
    signal: new AbortController().signal,
  });

test("images go to packages of each version in its form", async () => {
  const url = new URL("https://images.example/a.png");
  for (const [version, inline, address] of [
    ["v2", "AAAA", url],
    ["v3", "AAAA", url],
    ["v4", { type: "data", data: "AAAA" }, { type: "url", url }],
  ] as const)
    expect((await ask(version, {}))["prompt"]).toEqual([
      {
        role: "user",
        content: [
          { type: "file", mediaType: "image/png", data: inline },
          { type: "file", mediaType: "image/*", data: address },
        ],
      },
    ]);
});

test("an effort goes to packages of each version in its form", async () => {
  const older = await ask("v3", { reasoning_effort: "high" });
  expect(older["providerOptions"]).toEqual({ someVendor: { reasoningEffort: "high" } });
  expect(older["reasoning"]).toBeUndefined();
  const newer = await ask("v4", { reasoning_effort: "high" });
  expect([newer["reasoning"], newer["providerOptions"]]).toEqual(["high", {}]);
});

test("a reply that is all there can be read in every way in which packages read", async () => {
  const text = '{"a":"ü"}';
  const reply = () =>
    new WholeReply(new FetchReply(new Response(null, { status: 201 })), Buffer.from(text));
  const bytes = Buffer.from(text);
  expect([reply().ok, reply().status]).toEqual([true, 201]);
  expect(await reply().text()).toBe(text);
  expect(await reply().json()).toEqual({ a: "ü" });
  expect(Buffer.from(await reply().bytes())).toEqual(bytes);
  expect(Buffer.from(await reply().arrayBuffer())).toEqual(bytes);
  expect(await (await reply().blob()).text()).toBe(text);
  const reader = reply().body.getReader();
  const pieces = [await reader.read(), await reader.read()];
  expect(pieces.map(({ done }) => done)).toEqual([false, true]);
  expect(pieces.filter(isFields)[0]?.value).toEqual(bytes);
  const decoded = reply().body.pipeThrough(new TextDecoderStream());
  expect(await new Response(decoded).text()).toBe(text);
  for await (const piece of reply().body) expect(Buffer.from(piece)).toEqual(bytes);
});
