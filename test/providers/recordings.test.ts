import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { OpenAI } from "openai";
import { isJsonObject, type JsonObject } from "../../src/call/chat.ts";
import { jsonReply, type Recording } from "../fake/http/reply.ts";
import { chatStream, DONE } from "../fake/openai/chat-stream.ts";
import { inPieces } from "../fake/script.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { openPayer, type Payer } from "../setup/money-home.ts";
import {
  costNano,
  loadRecordings,
  modelOf,
  type NamedRecording,
  recordingsManifest,
} from "./recordings.ts";

const recordings = loadRecordings();
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ manifest: recordingsManifest(recordings) });
});
afterAll(() => gateway.stop());

/** What a client has in its hands at the end. */
interface Got {
  readonly message: Record<string, unknown>;
  readonly finish: string | null | undefined;
  readonly reply: Record<string, unknown>;
  readonly usage: unknown;
}

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;
const bodyOf = (recording: NamedRecording) =>
  ({ ...recording.request, model: modelOf(recording) }) as unknown as Body;

async function whole(client: OpenAI, recording: NamedRecording): Promise<Got> {
  const reply = await client.chat.completions.create(bodyOf(recording));
  const choice = reply.choices[0];
  return {
    message: { ...choice?.message },
    finish: choice?.finish_reason,
    reply: { ...reply },
    usage: reply.usage,
  };
}

/** Joins the deltas as clients do: texts are put together, lists follow each other. */
async function streamed(client: OpenAI, recording: NamedRecording): Promise<Got> {
  const events = client.chat.completions.stream({
    ...bodyOf(recording),
    stream: true,
    stream_options: { include_usage: true },
  });
  const message: Record<string, unknown> = {};
  const reply: Record<string, unknown> = {};
  for await (const event of events) {
    for (const [name, value] of Object.entries(event)) reply[name] = value;
    for (const [name, value] of Object.entries(event.choices[0]?.delta ?? {}))
      if (name !== "tool_calls") message[name] = joined(message[name], value);
  }
  const final = (await events.finalChatCompletion()).choices[0];
  const calls = final?.message.tool_calls;
  if (calls !== undefined) message["tool_calls"] = calls.map(plainCall);
  return { message, finish: final?.finish_reason, reply, usage: reply["usage"] };
}

function joined(before: unknown, next: unknown): unknown {
  if (typeof before === "string" && typeof next === "string") return before + next;
  if (Array.isArray(before) && Array.isArray(next)) return [...before, ...next];
  return next ?? before ?? null;
}

/** The helper adds what it parsed. */
function plainCall(call: object) {
  const { id, type, function: called } = call as { id: string; type: string; function: JsonObject };
  return { id, type, function: { name: called["name"], arguments: called["arguments"] } };
}

/** How much of a stream arrives at a time; 0 is all of it. The reader's own test has single bytes. */
const packetSizes = [89, 0] as const;

function inPackets(reply: Recording, sizeBytes: number) {
  if (sizeBytes === 0) return reply;
  const cuts: number[] = [];
  for (let at = sizeBytes; at < reply.bytes.length; at += sizeBytes) cuts.push(at);
  return inPieces(reply, cuts);
}

function expectSent({ expected }: NamedRecording): void {
  const request = gateway.upstream.requests.at(-1)?.json;
  const sent = isJsonObject(request) ? request : {};
  for (const [name, value] of Object.entries(expected.sent ?? {}))
    expect({ [name]: sent[name] }).toEqual({ [name]: value });
  expect((expected.absent ?? []).filter((name) => name in sent)).toEqual([]);
}

function expectGot({ expected }: NamedRecording, got: Got, text: string | undefined): void {
  expect(got.message).toMatchObject({ ...expected.message });
  if (text !== undefined) expect(got.message["content"]).toBe(text);
  expect(got.finish).toBe(expected.finish_reason ?? "stop");
  expect(got.reply).toMatchObject({ ...expected.reply });
  if (expected.usage !== undefined) expect(got.usage).toEqual(expected.usage);
}

/** The receipts are computed again from the vendor's own numbers. */
async function expectPaid(payer: Payer, count: number, recording: NamedRecording): Promise<void> {
  const told = recording.expected.vendor_cost_nano;
  for (const { units, cost, charged } of await payer.settled(count)) {
    expect(units).toMatchObject(recording.expected.units);
    expect({ cost, charged }).toEqual({ cost: costNano(recording), charged: costNano(recording) });
    if (told !== undefined) expect(cost).toBe(BigInt(told));
  }
}

for (const recording of recordings)
  describe(modelOf(recording), () => {
    const { upstream, expected, name } = recording;
    if (upstream.body !== undefined)
      test(`whole: ${name}`, async () => {
        const payer = await openPayer(gateway);
        gateway.upstream.replyOnce(jsonReply({ body: upstream.body }));
        const got = await whole(gateway.client({ apiKey: payer.key }), recording);
        expectSent(recording);
        expectGot(recording, got, expected.wholeText);
        await expectPaid(payer, 1, recording);
      });

    const { events } = upstream;
    if (events !== undefined)
      test(`streamed in small packets and all at once: ${name}`, async () => {
        const payer = await openPayer(gateway);
        const client = gateway.client({ apiKey: payer.key });
        for (const sizeBytes of packetSizes) {
          const reply = chatStream({ events: [...events, DONE], eventsPerPart: events.length + 1 });
          gateway.upstream.replyOnce(inPackets(reply, sizeBytes));
          const got = await streamed(client, recording);
          expectSent(recording);
          expectGot(recording, got, expected.streamedText);
        }
        await expectPaid(payer, packetSizes.length, recording);
      });
  });

test("the vendors that bend the format most have at least three recordings", () => {
  const named = ["xai", "groq", "cerebras", "mistral", "deepseek", "moonshot", "openrouter"];
  const vendors = [...named, "perplexity", "ollama", "openai", "gemini-compatible"];
  const played = ({ vendor, upstream: { body, events } }: NamedRecording) =>
    body === undefined || events === undefined ? [] : [vendor];
  const counts = Map.groupBy(recordings.flatMap(played), (vendor) => vendor);
  expect(vendors.filter((vendor) => (counts.get(vendor)?.length ?? 0) < 3)).toEqual([]);
});
