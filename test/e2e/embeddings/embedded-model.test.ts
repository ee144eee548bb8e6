import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cosine } from "../../../src/base/similarity.ts";
import { type EngineHome, startEngineHome } from "../../setup/engine-home.ts";

/** One real model in every run of the tests, the smallest; npm run test:engine has all of them. */

setDefaultTimeout(300_000);

let home: EngineHome;
beforeAll(async () => {
  home = await startEngineHome({ sets: ["text"] });
});
afterAll(() => home.stop());

test("a fresh gateway embeds texts with its own model: related ones are closer", async () => {
  // On a busy machine the model may take longer to load than one call waits.
  const client = home.client.withOptions({ maxRetries: 30 });
  const { data, usage } = await client.embeddings.create({
    model: "svc-embedding-2",
    input: [
      "A cat sleeps on the warm windowsill.",
      "The kitten is napping by the window.",
      "The central bank raised interest rates.",
    ],
    dimensions: 768,
  });
  const [cat = [], kitten = [], bank = []] = data.map(({ embedding }) => embedding);
  expect(cat).toHaveLength(768);
  expect(cosine(cat, kitten)).toBeGreaterThan(cosine(cat, bank) + 0.3);
  expect(usage.prompt_tokens).toBeGreaterThan(10);
});
