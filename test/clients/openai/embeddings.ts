import { expect } from "bun:test";
import { embeddedModel, embeddedVector } from "../../fake/openai/embedded-model.ts";
import { embeddingReplies, embeddingsReply, VECTORS } from "../../fake/recordings.ts";
import { toWire } from "../../fixtures/embedded-model/recorded.ts";

import { type Stage, sentUpstream } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-embedding-2";
const media = "multimodal-embedding-1";
const vectors = VECTORS.map((vector) => [...vector]);

export function embeddingChecks(check: Check, stage: Stage): void {
  check("gets the same vector in its own encoding and in floats", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const { embeddings } = stage.gateway.client();
    const packed = await embeddings.create({ model, input: "A cat sleeps." });
    const plain = await embeddings.create({
      model,
      input: "A cat sleeps.",
      encoding_format: "float",
    });
    expect(packed.data[0]?.embedding).toHaveLength(3072);
    expect(packed.data[0]?.embedding).toEqual(embeddedVector("A cat sleeps."));
    expect(packed.data[0]?.embedding).toEqual(
      plain.data[0]?.embedding.map((value) => Math.fround(value)) ?? [],
    );
    expect(packed.usage.prompt_tokens).toBe(6);
    expect(packed.usage).toEqual(plain.usage);
  });

  check("gets base64 on the wire, which it requests by default", async () => {
    stage.gateway.upstream.replyWith(embeddingReplies.float());
    const input = ["one", "two", "three"];
    const asked = stage.gateway.client().embeddings.create({ model, input });
    const { data } = (await (await asked.asResponse()).json()) as { data: { embedding: string }[] };
    const bytes = Buffer.from(String(data[0]?.embedding), "base64");
    expect(vectors[0]?.map((_, at) => bytes.readFloatLE(at * 4))).toEqual(vectors[0]);
  });

  check("embeds token ids as the text they stand for", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const create = (input: number[] | number[][] | string) =>
      stage.gateway.client().embeddings.create({ model, input, dimensions: 768 });
    const [text, ids, lists] = [
      await create("hello world"),
      await create([15339, 1917]),
      await create([[15339, 1917], [15339]]),
    ];
    expect(ids.data[0]?.embedding).toEqual(text.data[0]?.embedding ?? []);
    expect(lists.data).toHaveLength(2);
    expect(lists.data[0]?.embedding).toEqual(text.data[0]?.embedding ?? []);
    expect(lists.data[1]?.embedding).toEqual(embeddedVector([15339], 768));
  });

  mediaChecks(check, stage);
}

function mediaChecks(check: Check, stage: Stage): void {
  check("embeds images given as data URIs", async () => {
    stage.gateway.upstream.replyWith(embeddedModel);
    const images = ["cat.jpg", "cat.png"].map((image) => ({ image }));
    const { data, usage } = await stage.gateway.client().embeddings.create({
      model: media,
      input: images.map((image) => String(toWire(image))),
    });
    expect(data.map(({ embedding }) => embedding)).toEqual(
      images.map((image) => embeddedVector(image)),
    );
    expect(data[0]?.embedding.length).toBeGreaterThan(100);
    expect(data[1]?.embedding).toHaveLength(data[0]?.embedding.length ?? 0);
    expect(usage as object).toEqual({ prompt_tokens: 0, total_tokens: 0, images: 2 });
  });

  check("embeds a video object", async () => {
    // The SDK's types do not know it; the SDK sends it all the same.
    const video = { video: "cat-h264.mp4" };
    const input = toWire(video) as string;
    stage.gateway.upstream.replyOnce(embeddedModel);
    const { data, usage } = await stage.gateway.client().embeddings.create({ model: media, input });
    expect(data.map(({ embedding }) => embedding)).toEqual([embeddedVector(video)]);
    expect(data[0]?.embedding.length).toBeGreaterThan(100);
    expect(usage as object).toMatchObject({ prompt_tokens: 0, video_seconds: expect.any(Number) });
    stage.gateway.upstream.replyWith(embeddingsReply({ vectors: [[0.5]] }));
    await stage.gateway.client().embeddings.create({ model: media, input });
    expect(sentUpstream(stage.gateway)["input"]).toEqual(input);
  });
}
