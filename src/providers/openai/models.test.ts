import { describe, expect, test } from "bun:test";
import { ApiError } from "../../base/errors.ts";
import { fromOpenAiModels } from "./models.ts";

const idsOf = (reply: unknown) => fromOpenAiModels(reply, "vendor").map(({ id }) => id);

describe("a list of models is read in each of its forms:", () => {
  const forms: Readonly<Record<string, unknown>> = {
    "under data": { object: "list", data: [{ id: "one", object: "model" }, { id: "two" }] },
    bare: [{ id: "one", type: "chat" }, { id: "two" }],
    "under models, by name": { models: [{ name: "one" }, { model: "two", name: "Number two" }] },
    "under both": { models: [{ name: "not this" }], data: [{ id: "one" }, { id: "two" }] },
    "as names alone": { data: ["one", "two"] },
    "with rows that name nothing": {
      data: [
        null,
        7,
        {},
        { id: "" },
        { id: 3 },
        { id: "x".repeat(301) },
        { id: "one" },
        ["a"],
        "two",
      ],
    },
    "with a row told twice": { data: [{ id: "one" }, { id: "two" }, { id: "one" }] },
  };
  for (const [name, reply] of Object.entries(forms))
    test(name, () => expect(idsOf(reply)).toEqual(["one", "two"]));

  test("an empty one, also where a server says null", () => {
    for (const reply of [{ data: [] }, { data: null }, { models: null }, []])
      expect(idsOf(reply)).toEqual([]);
  });
});

test("what is no list at all is a failure of the upstream", () => {
  for (const reply of [{}, null, "models", 7, { data: {} }, { error: "no" }]) {
    const read = () => fromOpenAiModels(reply, "vendor");
    expect(read).toThrow(ApiError);
    expect(read).toThrow(expect.objectContaining({ code: "upstream_error" }));
  }
});

test("what a server tells of a model is kept, and nothing is made up", () => {
  const rows = [
    { id: "a", type: "embedding" },
    { id: "b", type: "chat", max_completion_tokens: 8_192 },
    {
      id: "c",
      architecture: { output_modalities: ["text"] },
      top_provider: { max_completion_tokens: 4_096 },
    },
    { id: "d", architecture: { output_modalities: ["speech"] } },
    { id: "e", type: "rerank", architecture: { output_modalities: ["image"] } },
    { id: "f", type: "toString", max_completion_tokens: "9", top_provider: null },
    { id: "g", max_completion_tokens: 0 },
  ];
  expect(fromOpenAiModels({ data: rows }, "vendor")).toEqual([
    { id: "a", endpoint: "embeddings" },
    { id: "b", endpoint: "chat", maxOutputTokens: 8_192 },
    { id: "c", endpoint: "chat", maxOutputTokens: 4_096 },
    { id: "d", endpoint: "speech" },
    { id: "e" },
    { id: "f" },
    { id: "g" },
  ]);
});
