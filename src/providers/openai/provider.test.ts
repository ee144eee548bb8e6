import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Server } from "bun";
import { quirksOf } from "../../catalog/vendors.ts";
import { Dialer } from "../kit/dial.ts";
import { createOpenAiProvider } from "./provider.ts";

/** A vendor on a socket, so that its real address can be asked without leaving the machine. */
const folder = mkdtempSync(join(tmpdir(), "svc-vendor-"));
const socket = join(folder, "vendor.sock");
let vendor: Server<undefined>;
let bodies: Record<string, unknown>[] = [];

beforeAll(() => {
  vendor = Bun.serve({
    unix: socket,
    async fetch(request) {
      bodies.push((await request.json()) as Record<string, unknown>);
      const message = { role: "assistant", content: "hi" };
      return Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }] });
    },
  });
});
afterAll(async () => {
  await vendor.stop(true);
  rmSync(folder, { recursive: true });
});

async function bodySentTo(host: string): Promise<Record<string, unknown> | undefined> {
  bodies = [];
  const baseUrl = `http://${host}/v1`;
  const provider = createOpenAiProvider({
    name: "vendor",
    baseUrl,
    apiKey: "k",
    socket,
    dialer: new Dialer({ provider: "vendor", allowPrivate: true }),
    quirks: quirksOf(undefined, baseUrl),
  });
  await provider.chat?.({
    call: {
      messages: [{ role: "user", content: "hello" }],
      maxOutputTokens: 7,
      options: { temperature: 0, metadata: { a: "b" }, store: true },
    },
    target: { model: "m" },
    signal: new AbortController().signal,
    onAccepted: () => {},
  });
  return bodies[0];
}

const plain = { model: "m", messages: [{ role: "user", content: "hello" }], temperature: 0 };

describe("what only the vendor itself knows", () => {
  test("goes to the vendor: the newer name of the cap, metadata and store", async () => {
    const sent = { ...plain, max_completion_tokens: 7, metadata: { a: "b" }, store: true };
    expect(await bodySentTo("api.openai.com")).toEqual(sent);
    expect(await bodySentTo("mine.openai.azure.com")).toEqual(sent);
  });

  test("goes to no other server, also not to one with a similar name", async () => {
    for (const host of ["api.example.com", "notopenai.com", "api.openai.com.example.org"])
      expect(await bodySentTo(host)).toEqual({ ...plain, max_tokens: 7 });
  });
});

test("what another vendor wants back stays away from servers that do not know it", async () => {
  bodies = [];
  const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
  const said = { role: "assistant", content: "x", reasoning_content: "hm" };
  const details = { reasoning_details: [1], extra_content: {} };
  const messages = [
    { role: "user", content: "hello" },
    {
      ...said,
      ...details,
      tool_calls: [{ ...call, extra_content: {} }],
    },
    { role: "tool", tool_call_id: "a", content: "1" },
  ];
  const ask = async (baseUrl: string) => {
    const provider = createOpenAiProvider({
      name: "vendor",
      baseUrl,
      apiKey: "k",
      socket,
      dialer: new Dialer({ provider: "vendor", allowPrivate: true }),
      quirks: quirksOf(undefined, baseUrl),
    });
    await provider.chat?.({
      call: { messages, maxOutputTokens: undefined, options: {} },
      target: { model: "m" },
      signal: new AbortController().signal,
      onAccepted: () => {},
    });
    return bodies.at(-1)?.["messages"];
  };
  const named = { role: "assistant", content: "x", reasoning: "hm" };
  expect(await ask("http://api.groq.com/v1")).toEqual([
    messages[0],
    { ...named, tool_calls: [call] },
    messages[2],
  ]);
  expect(await ask("http://openrouter.ai/v1")).toEqual([
    messages[0],
    { ...named, ...details, tool_calls: [{ ...call, extra_content: {} }] },
    messages[2],
  ]);
  expect(await ask("http://api.example.com/v1")).toEqual([
    messages[0],
    { ...said, tool_calls: [call] },
    messages[2],
  ]);
});
