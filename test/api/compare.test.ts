import { describe, expect, test } from "bun:test";
import { toOpenApi } from "../../src/wire/v1/openapi.ts";
import { breakingChanges } from "./compare.ts";

/** Each case changes the real document in one way; what would break a client must be found. */
type Loose = { [name: string]: Loose };
const fresh = () => JSON.parse(JSON.stringify(toOpenApi())) as Loose;
const today = "2027-06-01";

const changed = (
  change: (document: Loose) => void,
  prepare: (document: Loose) => void = () => {},
) => {
  const before = fresh();
  prepare(before);
  const after = structuredClone(before);
  change(after);
  return breakingChanges({ before, after, today });
};

const at = (document: Loose, ...steps: readonly string[]): Loose =>
  steps.reduce<Loose>((found, step) => {
    const next = found[step];
    if (next === undefined) throw new Error(`nothing at ${steps.join(" ")}`);
    return next;
  }, document);
const schema = (document: Loose, name: string) => at(document, "components", "schemas", name);
const field = (document: Loose, name: string, property: string) =>
  at(schema(document, name), "properties", property);
const set = (target: Loose, values: Record<string, unknown>) => Object.assign(target, values);
const remove = (target: Loose, name: string) => Reflect.deleteProperty(target, name);
const push = (target: Loose, name: string, value: string) =>
  set(target, { [name]: [...((target[name] ?? []) as unknown as string[]), value] });

test("nothing changed, nothing breaks", () => {
  expect(changed(() => {})).toEqual([]);
});

describe("breaks in a request", () => {
  const breaks: Readonly<Record<string, (document: Loose) => void>> = {
    "a field that is gone": (d) =>
      remove(at(schema(d, "ChatCompletionRequest"), "properties"), "stop"),
    "a field that is gone from a message": (d) =>
      remove(at(schema(d, "ToolCall"), "properties"), "type"),
    "a new required field": (d) => push(schema(d, "SpeechRequest"), "required", "new_field"),
    "an optional field that becomes required": (d) =>
      push(schema(d, "EmbeddingRequest"), "required", "dimensions"),
    "another type": (d) => set(field(d, "ChatCompletionRequest", "seed"), { type: "string" }),
    "an integer where a number was": (d) =>
      set(field(d, "ChatCompletionRequest", "temperature"), { type: "integer" }),
    "a lower maximum": (d) => set(field(d, "ChatCompletionRequest", "temperature"), { maximum: 1 }),
    "a higher minimum": (d) => set(field(d, "ChatCompletionRequest", "max_tokens"), { minimum: 2 }),
    "a new maximum": (d) => set(field(d, "ChatCompletionRequest", "max_tokens"), { maximum: 9 }),
    "a shorter text": (d) => set(field(d, "SpeechRequest", "input"), { maxLength: 4999 }),
    "fewer entries": (d) => set(field(d, "ChatCompletionRequest", "tools"), { maxItems: 8 }),
    "a value that is refused now": (d) =>
      set(field(d, "SpeechRequest", "voice"), { enum: ["Kore"] }),
    "a new pattern": (d) => set(field(d, "SpeechRequest", "input"), { pattern: "^a" }),
    "null that is refused now": (d) => set(field(d, "UserMessage", "name"), { nullable: false }),
    "a role that is gone": (d) => {
      const message = schema(d, "Message");
      set(message, { oneOf: (message["oneOf"] as unknown as unknown[]).slice(0, 3) });
    },
    "a form of input that is gone": (d) => {
      const input = field(d, "EmbeddingRequest", "input");
      // Lists of token ids: no other form takes them.
      set(input, { anyOf: (input["anyOf"] as unknown as unknown[]).toSpliced(3, 1) });
    },
    "extra fields that are refused now": (d) =>
      set(schema(d, "ChatCompletionRequest"), { additionalProperties: false }),
    "another content type": (d) => {
      const content = at(d, "paths", "/embeddings", "post", "requestBody", "content");
      set(content, { "application/xml": content["application/json"] });
      remove(content, "application/json");
    },
  };
  for (const [name, change] of Object.entries(breaks))
    test(name, () => expect(changed(change)).not.toEqual([]));
});

describe("breaks in a reply", () => {
  const breaks: Readonly<Record<string, (document: Loose) => void>> = {
    "a field that is gone": (d) => remove(at(schema(d, "Usage"), "properties"), "total_tokens"),
    "an optional field that is gone": (d) =>
      remove(at(schema(d, "Model"), "properties"), "replacement"),
    "a field that is not sure to be there": (d) => set(schema(d, "Usage"), { required: [] }),
    "another type": (d) => set(field(d, "Model", "created"), { type: "string" }),
    "null where none was": (d) => set(field(d, "Model", "id"), { nullable: true }),
    "a value that clients do not know": (d) =>
      push(field(d, "Choice", "finish_reason"), "enum", "paused"),
    "a list that may be empty": (d) =>
      remove(field(d, "ChatCompletionResponse", "choices"), "minItems"),
    "an error of another shape": (d) =>
      remove(at(field(d, "Error", "error"), "properties"), "code"),
    "a status that is gone": (d) => remove(at(d, "paths", "/models", "get", "responses"), "401"),
    "a content type that is gone": (d) =>
      remove(
        at(d, "paths", "/chat/completions", "post", "responses", "200", "content"),
        "text/event-stream",
      ),
    "a header that is gone": (d) =>
      remove(at(d, "components", "responses", "TooMany", "headers"), "retry-after"),
  };
  for (const [name, change] of Object.entries(breaks))
    test(name, () => expect(changed(change)).not.toEqual([]));
});

describe("breaks in an operation", () => {
  test("that is gone, moved or renamed", () => {
    expect(changed((d) => remove(at(d, "paths"), "/models"))).toEqual(["GET /models is gone"]);
    const post = (d: Loose) => at(d, "paths", "/embeddings", "post");
    expect(changed((d) => set(post(d), { operationId: "embed" }))).not.toEqual([]);
    expect(changed((d) => set(post(d), { security: [] }))).not.toEqual([]);
  });
});

describe("grows without breaking", () => {
  const grows: Readonly<Record<string, (document: Loose) => void>> = {
    "a new optional request field": (d) =>
      set(at(schema(d, "SpeechRequest"), "properties"), { new_field: { type: "number" } }),
    "a new reply field": (d) =>
      set(at(schema(d, "Usage"), "properties"), { new_count: { type: "integer" } }),
    "a wider range": (d) => set(field(d, "ChatCompletionRequest", "n"), { maximum: 256 }),
    "a new voice": (d) => push(field(d, "SpeechRequest", "voice"), "enum", "New"),
    "a number where an integer was asked for": (d) =>
      set(field(d, "ChatCompletionRequest", "seed"), { type: "number" }),
    "a new endpoint": (d) =>
      set(at(d, "paths"), { "/new": { post: { operationId: "createNew" } } }),
    "a reply field that is always there": (d) => push(schema(d, "Model"), "required", "deprecated"),
    "other words": (d) => set(schema(d, "Usage"), { description: "Used." }),
  };
  for (const [name, change] of Object.entries(grows))
    test(name, () => expect(changed(change)).toEqual([]));
});

describe("a removal", () => {
  const deprecate = (date: string) => (d: Loose) => {
    const told = { deprecated: true, "x-replacement": "other", "x-removal-date": date };
    set(field(d, "ChatCompletionRequest", "user"), told);
    set(at(d, "paths", "/audio/speech", "post"), told);
  };
  const removeBoth = (d: Loose) => {
    remove(at(schema(d, "ChatCompletionRequest"), "properties"), "user");
    remove(at(d, "paths"), "/audio/speech");
  };

  test("on or after its date is no break", () => {
    expect(changed(removeBoth, deprecate("2027-06-01"))).toEqual([]);
    expect(changed(removeBoth, deprecate("2027-01-01"))).toEqual([]);
  });

  test("before its date is one", () => {
    expect(changed(removeBoth, deprecate("2027-06-02"))).toEqual([
      "POST /chat/completions request.user is gone",
      "POST /audio/speech is gone",
    ]);
  });
});
