import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ALL_FORMATS, BufferSource, Input } from "../../engine/test/mediabunny.ts";
import { recordEmbeddings, recordSpeech } from "../fixtures/embedded-model/record.ts";
import { readEmbeddings, readSpeech } from "../fixtures/embedded-model/recorded.ts";
import type { ErrorBody } from "../replies/event-stream.ts";
import { type EngineHome, startEngineHome } from "../setup/engine-home.ts";

setDefaultTimeout(300_000);

let engine: EngineHome;
beforeAll(async () => {
  engine = await startEngineHome({ sets: ["text", "speech", "image"] });
}, 900_000);
afterAll(() => engine.stop());

const fixture = (name: string) => readFileSync(join(import.meta.dir, "../fixtures/engine", name));
const dataUri = (name: string) =>
  `data:image/${name.split(".").at(-1)?.replace("jpg", "jpeg")};base64,${fixture(name).toString("base64")}`;
const cosine = (left: readonly number[] = [], right: readonly number[] = []) =>
  left.reduce((sum, value, at) => sum + value * (right[at] ?? 0), 0);
const numbersIn = (base64: string) => {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
};
interface EmbeddingReply {
  readonly data: readonly { readonly embedding: readonly number[] }[];
  readonly usage: Readonly<Record<string, number>>;
}
const embedMedia = async (input: unknown) =>
  (await (
    await engine.call("/embeddings", { model: "multimodal-embedding-1", input })
  ).json()) as EmbeddingReply;

describe("text embeddings", () => {
  test("come in all three sizes, 3072 by default, through the SDK's own encoding", async () => {
    const input = ["A cat sleeps.", "A kitten naps.", "Interest rates rose."];
    const vectors = new Map<number, readonly (readonly number[])[]>();
    for (const dimensions of [768, 1536, undefined]) {
      const { data, usage } = await engine.client.embeddings.create({
        model: "svc-embedding-2",
        input,
        ...(dimensions === undefined ? {} : { dimensions }),
      });
      const [cat, kitten, rates] = data.map(({ embedding }) => embedding);
      expect(cat).toHaveLength(dimensions ?? 3072);
      expect(cosine(cat, cat)).toBeCloseTo(1, 4);
      expect(cosine(cat, kitten)).toBeGreaterThan(cosine(cat, rates) + 0.3);
      expect(usage.prompt_tokens).toBe(19);
      vectors.set(
        dimensions ?? 3072,
        data.map(({ embedding }) => embedding),
      );
    }
    const similarities = [...vectors.values()].map(([cat, kitten]) =>
      cosine(cat, kitten).toFixed(4),
    );
    expect(new Set(similarities).size).toBe(1);
  });

  test("as floats and as base64 are the same numbers", async () => {
    const ask = async (encoding: string) => {
      const body = { model: "svc-embedding-2", input: "hello", encoding_format: encoding };
      const reply = await engine.call("/embeddings", body);
      return ((await reply.json()) as { data: { embedding: string | number[] }[] }).data[0]
        ?.embedding;
    };
    const packed = Buffer.from(String(await ask("base64")), "base64");
    const floats = new Float32Array(packed.buffer, packed.byteOffset, packed.byteLength / 4);
    const plain = await ask("float");
    expect([...floats]).toEqual(Array.isArray(plain) ? plain.map(Math.fround) : []);
  });

  test("of token ids are those of the text they stand for", async () => {
    // "hello world" in cl100k_base, as LangChain sends it.
    const create = (input: number[] | number[][] | string) =>
      engine.client.embeddings.create({ model: "svc-embedding-2", input });
    const text = await create("hello world");
    const tokens = await create([15339, 1917]);
    expect(tokens.data[0]?.embedding).toEqual(text.data[0]?.embedding ?? []);
    const lists = await create([[15339, 1917], [15339]]);
    expect(lists.data).toHaveLength(2);
    expect(lists.data[0]?.embedding).toEqual(text.data[0]?.embedding ?? []);
    expect(lists.data[1]?.embedding).not.toEqual(text.data[0]?.embedding ?? []);
  });
});

describe("the recordings that clients are tested on", () => {
  test("have the vectors of the real models, and their token counts", async () => {
    await engine.client.embeddings.create({ model: "svc-embedding-2", input: "hello" });
    const now = await recordEmbeddings(engine.socket);
    const recorded = readEmbeddings();
    const withoutVectors = (entries: typeof now) =>
      entries.map(({ input, dimensions, tokens }) => ({ input, dimensions, tokens }));
    expect(withoutVectors(now)).toEqual(withoutVectors(recorded));
    for (const [at, { embedding }] of now.entries()) {
      const [real, kept] = [numbersIn(embedding), numbersIn(recorded[at]?.embedding ?? "")];
      expect(kept).toHaveLength(real.length);
      // Another processor rounds differently.
      expect(cosine(real, kept)).toBeGreaterThan(0.999);
    }
  });

  test("have speech of the length of the real voice's", async () => {
    await engine.client.embeddings.create({ model: "svc-embedding-2", input: "hello" });
    const ratio = (await recordSpeech(engine.socket)).length / readSpeech().length;
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });
});

describe("image embeddings", () => {
  test("come one per image, and a clip's lies at the image that it was made from", async () => {
    const { data, usage } = await embedMedia([dataUri("cat.jpg"), dataUri("raccoon.jpg")]);
    expect(usage).toEqual({ prompt_tokens: 0, total_tokens: 0, images: 2 });
    const [cat, raccoon] = data.map(({ embedding }) => embedding);
    const video = { bytesBase64Encoded: fixture("cat-h264.mp4").toString("base64") };
    const reply = await embedMedia({ video });
    expect(reply.data).toHaveLength(1);
    const clip = reply.data[0]?.embedding;
    expect(cosine(clip, cat)).toBeGreaterThan(cosine(clip, raccoon) + 0.3);
    expect(reply.usage["video_seconds"]).toBeGreaterThan(0);
  });

  test("of a broken image are a 400 that names its index", async () => {
    const reply = await engine.call("/embeddings", {
      model: "multimodal-embedding-1",
      input: [dataUri("cat.jpg"), dataUri("truncated.jpg")],
    });
    expect(reply.status).toBe(400);
    const { error } = (await reply.json()) as ErrorBody;
    expect(error.param).toBe("input[1]");
    expect(error.message).toContain("input[1]");
  });
});

describe("speech", () => {
  const speak = async (body: object) => {
    const reply = await engine.call("/audio/speech", {
      model: "svc-2.5-flash-tts",
      input: "Good morning to all of you.",
      voice: "Kore",
      ...body,
    });
    expect(reply.status).toBe(200);
    return reply;
  };

  test("is a wav that an independent parser reads: 24 kHz, mono, 16 bits, of a sentence's length", async () => {
    for (const model of ["svc-2.5-flash-tts", "svc-2.5-pro-tts"]) {
      const reply = await speak({ model });
      expect(reply.headers.get("content-type")).toBe("audio/wav");
      const input = new Input({
        formats: ALL_FORMATS,
        source: new BufferSource(await reply.arrayBuffer()),
      });
      const track = await input.getPrimaryAudioTrack();
      expect(track).toMatchObject({ codec: "pcm-s16", sampleRate: 24_000, numberOfChannels: 1 });
      const seconds = await input.computeDuration();
      expect(seconds).toBeGreaterThan(1);
      expect(seconds).toBeLessThan(8);
    }
  });

  test("arrives sentence by sentence, and a reader who leaves stops it", async () => {
    const text = "This is a sentence of a long reading. ".repeat(60).trim();
    const leave = new AbortController();
    const reply = await engine.call(
      "/audio/speech",
      { model: "svc-2.5-flash-tts", input: text, voice: "Puck", response_format: "pcm" },
      { signal: leave.signal },
    );
    const reader = reply.body?.getReader();
    await reader?.read();
    leave.abort();
    // A reading that went on would take minutes, and this one would wait for it.
    const next = await speak({ response_format: "pcm" });
    expect(next.headers.get("content-type")).toBe("audio/pcm");
    expect((await next.arrayBuffer()).byteLength).toBeGreaterThan(24_000);
  });
});
