import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Server } from "bun";
import type { ChatCall, JsonObject } from "../../call/chat.ts";
import { quirksOf } from "../../catalog/vendors.ts";
import { Dialer } from "../kit/dial.ts";
import { toMark } from "../kit/provenance.ts";
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

const question = { role: "user", content: "hello" };

async function bodySentTo(
  baseUrl: string,
  { maxOutputTokens, messages = [question], options = {} }: Partial<ChatCall> = {},
): Promise<Record<string, unknown> | undefined> {
  bodies = [];
  const provider = createOpenAiProvider({
    name: "vendor",
    baseUrl,
    apiKey: "k",
    socket,
    dialer: new Dialer({ provider: "vendor", allowPrivate: true }),
    quirks: quirksOf(undefined, baseUrl),
  });
  await provider.chat?.({
    call: { messages, maxOutputTokens, options },
    target: { model: "m" },
    signal: new AbortController().signal,
    onAccepted: () => {},
  });
  return bodies[0];
}

const options = { temperature: 0, metadata: { a: "b" }, store: true };
const call = { maxOutputTokens: 7, options };
const plain = { model: "m", messages: [question], temperature: 0 };

describe("what only the vendor itself knows", () => {
  test("goes to the vendor: the newer name of the cap, metadata and store", async () => {
    const sent = { ...plain, max_completion_tokens: 7, metadata: { a: "b" }, store: true };
    for (const host of ["api.openai.com", "mine.openai.azure.com"])
      expect(await bodySentTo(`http://${host}/v1`, call)).toEqual(sent);
  });

  test("goes to no other server, also not to one with a similar name", async () => {
    for (const host of ["api.example.com", "notopenai.com", "api.openai.com.example.org"])
      expect(await bodySentTo(`http://${host}/v1`, call)).toEqual({ ...plain, max_tokens: 7 });
  });
});

describe("what vendors want back goes to each as far as it is its own", () => {
  const called = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
  const thought = { role: "assistant", content: "x", reasoning_content: "hm" };
  const google = { google: { thought_signature: "Z29vZ2xl" } };
  const routed = { type: "reasoning.text", text: "hm", format: "anthropic-claude-v1" };
  const marked = { type: "reasoning.text", text: "hm", format: toMark("acme"), signature: "c2ln" };

  const sentTo = async (host: string, message: JsonObject) => {
    const result = { role: "tool", tool_call_id: "a", content: "1" };
    const body = await bodySentTo(`http://${host}`, { messages: [question, message, result] });
    const messages = body?.["messages"];
    return Array.isArray(messages) ? messages[1] : undefined;
  };
  const named = { role: "assistant", content: "x", reasoning: "hm" };
  const silent = { role: "assistant", content: "x", tool_calls: [called] };

  test("entries that nobody has signed leave the thought where it is", async () => {
    const message = {
      ...thought,
      reasoning_details: [1, routed],
      extra_content: {},
      tool_calls: [{ ...called, extra_content: {} }],
    };
    const sent = { ...named, tool_calls: [called] };
    expect(await sentTo("api.groq.com/v1", message)).toEqual(sent);
    expect(await sentTo("openrouter.ai/v1", message)).toEqual({
      ...sent,
      reasoning_details: [routed],
    });
    expect(await sentTo("api.example.com/v1", message)).toEqual({
      ...thought,
      tool_calls: [called],
    });
  });

  test("what an adapter of ours has made for another vendor stays away, with the thought", async () => {
    const message = {
      ...thought,
      reasoning: "hm",
      reasoning_details: [marked, routed],
      tool_calls: [called],
    };
    for (const host of ["api.groq.com/v1", "api.deepseek.com/v1", "api.example.com/v1"])
      expect(await sentTo(host, message)).toEqual(silent);
    expect(await sentTo("openrouter.ai/v1", message)).toEqual({
      ...silent,
      reasoning_details: [routed],
    });
  });

  test("what OpenRouter's vendors have signed stays away from others, with the thought", async () => {
    const reasoning_details = [{ ...routed, signature: "c2ln" }];
    const message = { ...thought, reasoning_details, tool_calls: [called] };
    expect(await sentTo("api.deepseek.com/v1", message)).toEqual(silent);
    const kept = { ...named, reasoning_details, tool_calls: [called] };
    expect(await sentTo("openrouter.ai/v1", message)).toEqual(kept);
  });

  test("Google's signatures go to its face for this format, and to nobody else", async () => {
    const other = { extra_content: { ...google, acme: { a: 1 } } };
    const message = { ...thought, ...other, tool_calls: [{ ...called, ...other }] };
    const face = "generativelanguage.googleapis.com/v1beta/openai";
    expect(await sentTo(face, message)).toEqual({
      ...thought,
      extra_content: google,
      tool_calls: [{ ...called, extra_content: google }],
    });
    for (const host of ["openrouter.ai/v1", "api.deepseek.com/v1", "api.example.com/v1"])
      expect(await sentTo(host, message)).toEqual(silent);
  });
});
