import { expect, test } from "bun:test";
import { namesMissing } from "./model-lists.ts";

const missing = (vendor: string | undefined, names: readonly string[], ids: readonly string[]) =>
  namesMissing({ vendor, names, ids });

test("a name that a complete list lacks is missing, with or without its folder", () => {
  const ids = ["gemini-3.8-flash", "gemini-3.8-flash-tts"];
  expect(missing("gemini", ["models/gemini-3.8-flash-tts", "gemini-3.8-flash"], ids)).toEqual([]);
  // The beginning of a name is another model.
  expect(missing("gemini", ["gemini-3.8-flash-preview-tts"], ids)).toEqual([
    "gemini-3.8-flash-preview-tts",
  ]);
});

test("a list that is empty, too long to be whole, or another vendor's tells nothing", () => {
  const long = Array.from({ length: 2_000 }, (_, at) => `model-${at}`);
  expect(missing("openai", ["gone"], [])).toBeUndefined();
  expect(missing("openai", ["gone"], long)).toBeUndefined();
  for (const vendor of ["azure", "bedrock", "vertex", "llamacpp", "fireworks", undefined])
    expect(missing(vendor, ["gone"], ["here"])).toBeUndefined();
});

test("other names of a listed model are listed: of its versions, its tags and its variants", () => {
  const listed = (vendor: string, name: string, id: string) =>
    expect([vendor, name, missing(vendor, [name], [id])]).toEqual([vendor, name, []]);
  listed("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929");
  listed("anthropic", "claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219");
  listed("openai", "gpt-4o", "gpt-4o-2024-08-06");
  listed("ollama", "llama3.2", "llama3.2:latest");
  listed("openrouter", "meta/llama-4:nitro", "meta/llama-4");
  listed("openrouter", "@preset/mine", "meta/llama-4");
  listed("gemini", "tunedModels/mine", "gemini-3.8-flash");
  expect(missing("ollama", ["llama3.2:1b"], ["llama3.2:latest"])).toEqual(["llama3.2:1b"]);
});
