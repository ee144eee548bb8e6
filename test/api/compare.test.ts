import { describe, expect, test } from "bun:test";
import {
  at,
  changed,
  field,
  get,
  header,
  type Loose,
  modelId,
  post,
  push,
  query,
  remove,
  type Step,
  schema,
  set,
} from "./altered-document.ts";

type Fields = Record<string, unknown>;
const fields = (d: Loose, name = "ChatCompletionRequest") => at(schema(d, name), "properties");
const inChat = (d: Loose, name: string) => field(d, "ChatCompletionRequest", name);

test("nothing changed, nothing breaks", () => {
  expect(changed(() => {})).toEqual([]);
});

describe("breaks in a request", () => {
  const breaks: Readonly<Record<string, (document: Loose) => void>> = {
    "a field that is gone": (d) => remove(fields(d, "ChatCompletionRequest"), "stop"),
    "a field that is gone from a message": (d) => remove(fields(d, "ToolCall"), "type"),
    "a new required field that is deprecated already": (d) => {
      const told = { type: "string", deprecated: true, "x-removal-date": "2027-01-01" };
      set(fields(d, "SpeechRequest"), { new_field: told });
      push(schema(d, "SpeechRequest"), "required", "new_field");
    },
    "a new required field": (d) => push(schema(d, "SpeechRequest"), "required", "new_field"),
    "an optional field that becomes required": (d) =>
      push(schema(d, "EmbeddingRequest"), "required", "dimensions"),
    "another type": (d) => set(inChat(d, "seed"), { type: "string" }),
    "an integer where a number was": (d) => set(inChat(d, "temperature"), { type: "integer" }),
    "a lower maximum": (d) => set(inChat(d, "temperature"), { maximum: 1 }),
    "a higher minimum": (d) => set(inChat(d, "max_tokens"), { minimum: 2 }),
    "a new maximum": (d) => set(inChat(d, "max_tokens"), { maximum: 9 }),
    "a shorter text": (d) => set(field(d, "SpeechRequest", "input"), { maxLength: 4999 }),
    "fewer entries": (d) => set(inChat(d, "tools"), { maxItems: 8 }),
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
    "a field that is gone": (d) => remove(fields(d, "Usage"), "total_tokens"),
    "an optional field that is gone": (d) => remove(fields(d, "Model"), "replacement"),
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

/** Each pair lays something into both documents, then changes it in the new one. */
const within = (prepare: Fields, now: Fields) =>
  [(d: Loose) => set(fields(d), { x: prepare }), (d: Loose) => set(fields(d), { x: now })] as const;
const nothing = () => {};
const text = { type: "string" };
const number = { type: "number" };
const list = { type: "array", items: text };
const forms = [text, number];
const from0 = { ...number, minimum: 0 };
const to1 = { ...number, maximum: 1 };

describe("breaks by what stands beside types", () => {
  const breaks: Readonly<Record<string, readonly [Step, Step]>> = {
    "another default": within({ ...number, default: 1 }, { ...number, default: 2 }),
    "a default that is gone": within({ ...number, default: 1 }, number),
    "a minimum that leaves itself out": within(from0, { ...from0, exclusiveMinimum: true }),
    "a maximum that leaves itself out": within(to1, { ...to1, exclusiveMaximum: true }),
    "a bound that is a number of its own": within(number, { ...number, exclusiveMinimum: 0 }),
    "steps where there were none": within(number, { ...number, multipleOf: 0.5 }),
    "larger steps": within({ ...number, multipleOf: 2 }, { ...number, multipleOf: 3 }),
    "entries that must differ": within(list, { ...list, uniqueItems: true }),
    "entries of one kind where any would do": within({ type: "array" }, list),
    "values that must not be": within(text, { ...text, not: { enum: ["a"] } }),
    "one more condition": within(text, { ...text, allOf: [{ maxLength: 5 }] }),
    "one more condition beside forms": within({ anyOf: forms }, { anyOf: forms, maxLength: 5 }),
    "named extra fields of one kind": within(
      { type: "object" },
      { type: "object", additionalProperties: number },
    ),
    "null beside forms in a reply": [
      (d) => set(fields(d, "Model"), { x: { anyOf: [text, number] } }),
      (d) => set(field(d, "Model", "x"), { nullable: true }),
    ],
    "null in one of the forms of a reply": [
      (d) => set(fields(d, "Model"), { x: { anyOf: [text, number] } }),
      (d) => set(field(d, "Model", "x"), { anyOf: [text, { ...number, nullable: true }] }),
    ],
    "a condition that a reply no longer keeps": [
      (d) => set(modelId(d), { allOf: [{ maxLength: 64 }] }),
      (d) => remove(modelId(d), "allOf"),
    ],
    "a field of one form that is gone, though another form has one of that name": [
      (d) => {
        set(at(d, "components", "schemas"), { Named: { type: "object", properties: { a: text } } });
        const forms = [{ type: "object", properties: { a: text } }, { $ref: named }];
        set(fields(d), { x: { anyOf: forms } });
      },
      (d) => set(inChat(d, "x"), { anyOf: [{ $ref: named }] }),
    ],
  };
  for (const [name, [prepare, change]] of Object.entries(breaks))
    test(name, () => expect(changed(change, prepare)).not.toEqual([]));
});
const named = "#/components/schemas/Named";

describe("breaks in an operation", () => {
  test("that is gone or renamed", () => {
    expect(changed((d) => remove(at(d, "paths"), "/models"))).toEqual(["GET /models is gone"]);
    expect(changed((d) => set(post(d), { operationId: "embed" }))).not.toEqual([]);
  });

  const body = (required: boolean) => ({
    requestBody: { required, content: { "application/json": { schema: { type: "object" } } } },
  });
  const breaks: Readonly<Record<string, readonly [Step, Step]>> = {
    "no more proof of who calls": [nothing, (d) => set(post(d), { security: [] })],
    "proof where none was asked for": [
      (d) => set(post(d), { security: [] }),
      (d) => remove(post(d), "security"),
    ],
    "another proof of the same name": [
      nothing,
      (d) =>
        set(at(d, "components", "securitySchemes"), {
          bearer: { type: "apiKey", in: "header", name: "x-api-key" },
        }),
    ],
    "another major version": [
      nothing,
      (d) => set(d, { servers: [{ url: "http://127.0.0.1:8080/v2" }] }),
    ],
    "another major version by default": [
      nothing,
      (d) => set(at(d, "servers", "0", "variables", "base_url"), { default: "http://a.test/v2" }),
    ],
    "another major version of one operation": [
      nothing,
      (d) => set(post(d), { servers: [{ url: "/v2" }] }),
    ],
    "a new required parameter": [nothing, query({ required: true })],
    "a parameter that becomes required": [query({}), query({ required: true })],
    "a required parameter of the whole path": [
      nothing,
      (d) =>
        set(at(d, "paths", "/models"), {
          parameters: [{ name: "a", in: "query", required: true, schema: text }],
        }),
    ],
    "a parameter that is gone": [query({}), (d) => remove(get(d), "parameters")],
    "a parameter of another type": [query({}), query({ schema: text })],
    "a parameter with another default": [
      query({ schema: { ...number, default: 1 } }),
      query({ schema: { ...number, default: 2 } }),
    ],
    "a parameter that is written otherwise": [query({}), query({ style: "pipeDelimited" })],
    "a body that becomes required": [
      (d) => set(at(post(d), "requestBody"), { required: false }),
      (d) => set(at(post(d), "requestBody"), { required: true }),
    ],
    "a required body where none was": [nothing, (d) => set(get(d), body(true))],
    "a reply header of another type": [
      (d) => set(header(d, "RetryAfter"), { schema: { type: "integer" } }),
      (d) => set(header(d, "RetryAfter"), { schema: text }),
    ],
    "a reply header that is not sure to be there": [
      (d) => set(header(d, "RetryAfter"), { required: true }),
      (d) => set(header(d, "RetryAfter"), { required: false }),
    ],
  };
  for (const [name, [prepare, change]] of Object.entries(breaks))
    test(name, () => expect(changed(change, prepare)).not.toEqual([]));
});

describe("grows without breaking", () => {
  const grows: Readonly<Record<string, (document: Loose) => void>> = {
    "a new optional request field": (d) =>
      set(fields(d, "SpeechRequest"), { new_field: { type: "number" } }),
    "a new reply field": (d) => set(fields(d, "Usage"), { new_count: { type: "integer" } }),
    "a wider range": (d) => set(inChat(d, "n"), { maximum: 256 }),
    "a new voice": (d) => push(field(d, "SpeechRequest", "voice"), "enum", "New"),
    "a number where an integer was asked for": (d) => set(inChat(d, "seed"), { type: "number" }),
    "a new endpoint": (d) =>
      set(at(d, "paths"), { "/new": { post: { operationId: "createNew" } } }),
    "a reply field that is always there": (d) => push(schema(d, "Model"), "required", "deprecated"),
    "other words": (d) => set(schema(d, "Usage"), { description: "Used." }),
    "other words of a proof": (d) =>
      set(at(d, "components", "securitySchemes", "bearer"), { description: "A key." }),
    "a second kind of proof": (d) => set(d, { security: [{ bearer: [] }, { other: [] }] }),
    "another address": (d) => set(d, { servers: [{ url: "https://other.test/v1/" }] }),
    "a new optional parameter": (d) => query({})(d),
    "a default that is told now": (d) => set(inChat(d, "n"), { default: 1 }),
    "an optional body": (d) => set(get(d), { requestBody: { content: {} } }),
  };
  const pairs: Readonly<Record<string, readonly [Step, Step]>> = {
    "a second form of a field that may be null": within(
      { ...text, nullable: true },
      { nullable: true, anyOf: [text, number] },
    ),
    "a second form of a field with fields of its own": [
      (d) => {
        set(at(d, "components", "schemas"), { Named: { type: "object", properties: { a: text } } });
        set(fields(d), { x: { $ref: named } });
      },
      (d) => set(fields(d), { x: { anyOf: [{ $ref: named }, text] } }),
    ],
    "a bound that takes itself in": within({ ...number, exclusiveMinimum: 0 }, from0),
    "smaller steps": within({ ...number, multipleOf: 4 }, { ...number, multipleOf: 2 }),
    "a condition that is gone": within({ ...text, allOf: [{ maxLength: 5 }] }, text),
    "conditions that are told in one": within(
      { allOf: [text, { maxLength: 5 }] },
      { ...text, maxLength: 5 },
    ),
    "forms that become one, within a bound that was theirs": within(
      {
        anyOf: [
          { ...text, enum: ["a"] },
          { ...text, pattern: "b" },
        ],
        maxLength: 5,
      },
      { ...text, maxLength: 5 },
    ),
    "entries of any kind": within(list, { type: "array" }),
  };
  test.each(Object.entries(grows))("%s", (_, change) => expect(changed(change)).toEqual([]));
  test.each(Object.entries(pairs))("%s", (_, [prepare, change]) =>
    expect(changed(change, prepare)).toEqual([]),
  );
});
