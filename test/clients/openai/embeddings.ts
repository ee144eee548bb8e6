import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { embeddingReplies, embeddingsReply, VECTORS } from "../../fake/recordings.ts";
import type { Check } from "../report.ts";
import { type Stage, sentUpstream } from "../stage.ts";

const model = "svc-embedding-2";
const media = "multimodal-embedding-1";
const vectors = VECTORS.map((vector) => [...vector]);
const fixture = (name: string) =>
  readFileSync(join(import.meta.dir, "../../fixtures/engine", name)).toString("base64");

export function embeddingChecks(check: Check, stage: Stage): void {
  check("gets the same vector in its default encoding and as floats", async () => {
    const { embeddings } = stage.engine.client;
    const packed = await embeddings.create({ model, input: "A cat sleeps." });
    const plain = await embeddings.create({
      model,
      input: "A cat sleeps.",
      encoding_format: "float",
    });
    expect(packed.data[0]?.embedding).toHaveLength(3072);
    expect(packed.data[0]?.embedding).toEqual(
      plain.data[0]?.embedding.map((value) => Math.fround(value)) ?? [],
    );
    expect(packed.usage.prompt_tokens).toBeGreaterThan(0);
    expect(packed.usage).toEqual(plain.usage);
  });

  check("gets vectors in order, whatever encoding and order the upstream uses", async () => {
    for (const reply of [
      embeddingReplies.float(),
      embeddingReplies.base64(),
      embeddingReplies.outOfOrder(),
    ]) {
      stage.gateway.upstream.replyWith(reply);
      const input = ["one", "two", "three"];
      const { data } = await stage.gateway.client().embeddings.create({ model, input });
      expect(data.map(({ embedding }) => embedding)).toEqual(vectors);
      expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
    }
  });

  check("gets base64 on the wire, which it requests by default", async () => {
    stage.gateway.upstream.replyWith(embeddingReplies.float());
    const input = ["one", "two", "three"];
    const asked = stage.gateway.client().embeddings.create({ model, input });
    const { data } = (await (await asked.asResponse()).json()) as { data: { embedding: string }[] };
    const bytes = Buffer.from(String(data[0]?.embedding), "base64");
    expect(vectors[0]?.map((_, at) => bytes.readFloatLE(at * 4))).toEqual(vectors[0]);
  });

  check("gets vectors of 768 and 1536 dimensions", async () => {
    for (const dimensions of [768, 1536]) {
      const { data } = await stage.engine.client.embeddings.create({
        model,
        input: ["A cat sleeps.", "Rates rose."],
        dimensions,
      });
      expect(data.map(({ embedding }) => embedding.length)).toEqual([dimensions, dimensions]);
    }
  });

  check("embeds token ids like the text they encode", async () => {
    const create = (input: number[] | number[][] | string) =>
      stage.engine.client.embeddings.create({ model, input, dimensions: 768 });
    const [text, ids, lists] = [
      await create("hello world"),
      await create([15339, 1917]),
      await create([[15339, 1917], [15339]]),
    ];
    expect(ids.data[0]?.embedding).toEqual(text.data[0]?.embedding ?? []);
    expect(lists.data).toHaveLength(2);
    expect(lists.data[0]?.embedding).toEqual(text.data[0]?.embedding ?? []);
  });

  mediaChecks(check, stage);
}

function mediaChecks(check: Check, stage: Stage): void {
  check("embeds images given as data URIs", async () => {
    const images = ["cat.jpg", "cat.png"].map(
      (name) => `data:image/${name.endsWith("png") ? "png" : "jpeg"};base64,${fixture(name)}`,
    );
    const { data, usage } = await stage.engine.client.embeddings.create({
      model: media,
      input: images,
    });
    expect(data).toHaveLength(2);
    expect(data[0]?.embedding.length).toBeGreaterThan(100);
    expect(data[1]?.embedding).toHaveLength(data[0]?.embedding.length ?? 0);
    expect(usage as object).toEqual({ prompt_tokens: 0, total_tokens: 0, images: 2 });
  });

  check("embeds a video object", async () => {
    // The SDK's types do not know it; the SDK sends it all the same.
    const input = { video: { bytesBase64Encoded: fixture("cat-h264.mp4") } } as unknown as string;
    const { data, usage } = await stage.engine.client.embeddings.create({ model: media, input });
    expect(data).toHaveLength(1);
    expect(data[0]?.embedding.length).toBeGreaterThan(100);
    expect(usage as object).toMatchObject({ prompt_tokens: 0, video_seconds: expect.any(Number) });
    stage.gateway.upstream.replyWith(embeddingsReply({ vectors: [[0.5]] }));
    await stage.gateway.client().embeddings.create({ model: media, input });
    expect(sentUpstream(stage.gateway)["input"]).toEqual(input);
  });
}
