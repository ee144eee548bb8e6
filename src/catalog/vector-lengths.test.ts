import { expect, test } from "bun:test";
import { hasOwnLength } from "./vector-lengths.ts";

const route = (model: string) => ({ provider: "p", model, weight: 1 });

test("models that are too short for 3,072 numbers have a length of their own", () => {
  for (const model of [
    "text-embedding-3-small",
    "text-embedding-ada-002",
    "text-embedding-005",
    "models/embedding-001",
    "amazon.titan-embed-text-v2:0",
    "cohere.embed-english-v3",
    "us.cohere.embed-v4:0",
    "embed-multilingual-v3.0",
    "mistral-embed",
    "voyage-3.5",
    "nomic-embed-text:latest",
    "BAAI/bge-m3",
    "intfloat/multilingual-e5-large",
  ])
    expect([model, hasOwnLength(route(model))]).toEqual([model, true]);
});

test("models that can return 3,072 numbers, and unknown ones, are asked for them", () => {
  for (const model of [
    "text-embedding-3-large",
    "gemini-embedding-001",
    "models/gemini-embedding-2",
    "amazon.nova-2-multimodal-embeddings-v1:0",
    "qwen3-embedding:8b",
    "upstream-embed",
  ])
    expect([model, hasOwnLength(route(model))]).toEqual([model, false]);
});

test("what a route says wins over what is known of names", () => {
  expect(hasOwnLength({ ...route("upstream-embed"), dimensions: "own" })).toBe(true);
  expect(hasOwnLength({ ...route("mistral-embed"), dimensions: 3072 })).toBe(false);
});
