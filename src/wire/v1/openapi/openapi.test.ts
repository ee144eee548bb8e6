import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv } from "ajv";
import { problemsOf } from "../../../../test/replies/conformance.ts";
import { ApiError, errorKinds } from "../../../base/errors.ts";
import type { Json, JsonObject } from "../../../call/chat.ts";
import { endpointPaths } from "../../../call/endpoint.ts";
import { chatRequest } from "../chat/request.ts";
import { readCompletionFields, readPrompts, toTextCompletionOrder } from "../completions/call.ts";
import { completionRequest } from "../completions/request.ts";
import { readMediaInput, readTextInput } from "../embeddings/input.ts";
import { embeddingFields, embeddingRequest } from "../embeddings/request.ts";
import { readCountRequest, readMessagesRequest } from "../messages/call.ts";
import { messagesRequest } from "../messages/request.ts";
import { responseRequest } from "../responses/request.ts";
import { speechRequest } from "../speech/request.ts";
import { readChatRequest, readEmbeddingRequest, reader, readSpeechRequest } from "../validate.ts";
import { examples } from "./examples.ts";
import { toOpenApi } from "./openapi.ts";
import { responseExamples } from "./response-examples.ts";

const written = readFileSync(join(import.meta.dir, "../../../../docs/openapi.json"), "utf8");
const document = JSON.parse(written);

test("docs/openapi.json is what the code says: npm run openapi writes it", () => {
  expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(toOpenApi())));
});

describe("the document", () => {
  test("is OpenAPI 3.0.3, version 1.0.0 of the description, of v1", () => {
    expect(document.openapi).toBe("3.0.3");
    expect(document.info.version).toBe("1.0.0");
    expect(document["x-api-version"]).toBe("v1");
  });

  // Its operations and their statuses are held by the last release, in test/api.
  test("has every endpoint", () => {
    for (const path of Object.values(endpointPaths))
      expect(document.paths).toHaveProperty([path.replace("/v1", "")]);
  });

  test("asks for a bearer key everywhere but for the voices, and says what is preview", () => {
    expect(document.security).toEqual([{ bearer: [] }]);
    expect(document.paths["/audio/voices"].get.security).toEqual([]);
    expect(JSON.stringify(document.paths).match(/"security"/g)).toHaveLength(1);
    expect(document.components.securitySchemes.bearer).toMatchObject({
      type: "http",
      scheme: "bearer",
    });
    const previews = Object.entries(document.paths).filter(([, methods]) =>
      JSON.stringify(methods).includes("x-preview"),
    );
    expect(previews.map(([path]) => path).toSorted()).toEqual([
      "/audio/speech",
      "/audio/transcriptions",
      "/completions",
      "/messages",
      "/messages/count_tokens",
      "/responses",
      "/responses/{id}",
      "/responses/{id}/cancel",
      "/responses/{id}/input_items",
    ]);
  });

  test("describes every field, and keeps our own keywords to itself", () => {
    expect(written).not.toContain("x-says");
    expect(written).not.toContain("x-name");
    const schemas: Record<string, { properties?: Record<string, JsonObject> }> =
      document.components.schemas;
    const mute = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([, field]) => {
          // A field that can have one value only says all with it.
          const isConstant = Array.isArray(field["enum"]) && field["enum"].length === 1;
          return !isConstant && field["description"] === undefined && field["$ref"] === undefined;
        })
        .map(([field]) => `${name}.${field}`),
    );
    expect(mute).toEqual([]);
  });
});

describe("a public linter", () => {
  const lint = async (source: unknown) => {
    const config = await createConfig({ extends: ["recommended"] });
    const found = await lintFromString({ source: JSON.stringify(source), config });
    return found.map(({ ruleId, message }) => `${ruleId}: ${message}`);
  };

  test("finds nothing to say", async () => {
    expect(await lint(document)).toEqual([]);
  });

  test("would speak up: of a wrong example, a lost reference, an operation without id", async () => {
    const broken = structuredClone(document);
    broken.paths["/models"].get.responses[200].content["application/json"].example.data[0].id = 7;
    broken.paths["/embeddings"].post.responses[401].$ref = "#/components/responses/None";
    delete broken.paths["/audio/speech"].post.operationId;
    const rules = (await lint(broken)).map((problem) => problem.split(":")[0]);
    expect(rules).toContain("no-invalid-media-type-examples");
    expect(rules).toContain("no-unresolved-refs");
    expect(rules).toContain("operation-operationId");
  });
});

test("every example obeys the schema that checks the real thing", () => {
  const { embeddingRequest } = examples;
  expect(() => readChatRequest({ ...examples.chatRequest })).not.toThrow();
  const unlimited = { maxOutputTokens: undefined };
  expect(() => toTextCompletionOrder({ ...examples.completionRequest }, unlimited)).not.toThrow();
  expect(() => readSpeechRequest({ ...examples.speechRequest })).not.toThrow();
  expect(() => readEmbeddingRequest({ ...embeddingRequest })).not.toThrow();
  expect(() => readTextInput({ ...embeddingRequest })).not.toThrow();
  expect(() => readMessagesRequest({ ...examples.messagesRequest })).not.toThrow();
  expect(() => readCountRequest({ ...examples.countRequest })).not.toThrow();
  expect(problemsOf.message(examples.messagesReply)).toEqual([]);
  expect(problemsOf.count(examples.tokenCount)).toEqual([]);
  expect(problemsOf.messagesError(examples.messagesError)).toEqual([]);
  expect(problemsOf.response(responseExamples.reply)).toEqual([]);
  expect(problemsOf.deletedResponse(responseExamples.deleted)).toEqual([]);
  expect(problemsOf.responseItems(responseExamples.items)).toEqual([]);
  expect(problemsOf.chat(examples.chatReply)).toEqual([]);
  expect(problemsOf.chunk(examples.chatChunk)).toEqual([]);
  expect(problemsOf.completion(examples.completionReply)).toEqual([]);
  expect(problemsOf.completionChunk(examples.completionChunk)).toEqual([]);
  expect(problemsOf.embeddings(examples.embeddingReply)).toEqual([]);
  expect(problemsOf.models(examples.modelList)).toEqual([]);
  expect(problemsOf.model(examples.model)).toEqual([]);
  for (const error of Object.values(examples.errors))
    expect(problemsOf.error({ error })).toEqual([]);
  expect(problemsOf.error({ error: { ...examples.errors[400], code: null } })).not.toEqual([]);
});

/** The dialect of OpenAPI 3.0 says what our own schemas say: nothing is lost on the way. */
describe("the document's schemas judge bodies as the gateway does, which names the field", () => {
  const ajv = new Ajv({ strict: false, strictNumbers: true });
  ajv.addSchema(document, "openapi");
  const accepts = (name: string) => {
    const isValid = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
    return (body: JsonObject) => isValid(body);
  };
  /** What the gateway says against a body; undefined where it takes it. */
  type Reads = (body: JsonObject) => ApiError | undefined;
  const problemIn =
    (read: (body: JsonObject) => unknown): Reads =>
    (body) => {
      // As the gateway does before it looks at a field.
      const fields = Object.entries(body).filter(([, value]) => value !== null);
      try {
        read(Object.fromEntries(fields));
        return undefined;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return error;
      }
    };
  const passes = (read: (body: JsonObject) => unknown) => {
    const reads = problemIn(read);
    return (body: JsonObject) => reads(body) === undefined;
  };
  /** The field is named, or a place within it, and the words are ours. */
  const expectNamed = (problem: ApiError, field: string, says: unknown) => {
    const { code, message } = problem;
    const param = problem.param ?? "";
    expect({ code, field, named: param.split(/[.[]/)[0] ?? "" }).toEqual({
      code: "invalid_request",
      field,
      named: field,
    });
    expect(message).toStartWith(`${param} `);
    expect(message).toEndWith(".");
    expect(message).not.toMatch(/must (have|NOT|match)/);
    if (param === field && typeof says === "string") expect(message).toContain(says);
  };
  /** Just outside of what a number may be. */
  const beyond = ({ minimum, maximum }: JsonObject): readonly Json[] => [
    ...(typeof minimum === "number" ? [minimum - 1, minimum - 0.1] : []),
    ...(typeof maximum === "number" ? [maximum + 1, maximum + 0.1] : []),
  ];
  const values = [
    [null, true, 0, -1, 1, 1.5, 2, 129, 1e21, "", "x", "auto", "wav", "float", "Kore"],
    [[], ["x"], [1], [[1]], [{}], {}, { type: "text" }, { type: "x" }, { include_usage: null }],
  ].flat();
  const compare = (options: {
    readonly name: string;
    readonly base: JsonObject;
    readonly schema: { readonly properties: object };
    readonly reads: Reads;
  }) => {
    const { name, base, reads, schema } = options;
    const accept = accepts(name);
    const properties: Record<string, JsonObject> = document.components.schemas[name].properties;
    const fields = Object.keys(properties);
    expect(fields.length).toBeGreaterThan(3);
    const own = schema.properties as Record<string, JsonObject>;
    let refused = 0;
    for (const field of fields)
      for (const value of [...values, ...beyond(properties[field] ?? {})]) {
        // Null means absent there, too; OpenAPI 3.0 cannot say it of kinds told apart by a field.
        const hasKinds = /^(response_format|tool_choice|thinking)$/.test(field);
        if (hasKinds && value === null) continue;
        const body = { ...base, [field]: value };
        const expected = accept(body);
        if (!expected) refused++;
        const problem = reads(body);
        const isTaken = problem === undefined;
        expect({ field, value, passes: isTaken }).toEqual({ field, value, passes: expected });
        if (problem !== undefined) expectNamed(problem, field, own[field]?.["x-says"]);
      }
    expect(refused).toBeGreaterThan(fields.length);
  };

  test("chat", () => {
    compare({
      name: "ChatCompletionRequest",
      base: examples.chatRequest,
      schema: chatRequest,
      reads: problemIn(readChatRequest),
    });
    const messages = [
      { role: "assistant", content: null },
      { role: "assistant", content: [{ type: "refusal", refusal: "no" }], tool_calls: null },
      { role: "user", content: [{ type: "image_url", image_url: { url: "x", detail: null } }] },
      { role: "user", content: [{ type: "image_url", image_url: { url: "x", detail: "all" } }] },
      { role: "user", content: [{ type: "refusal", refusal: "no" }] },
      { role: "developer", content: "x", name: null },
      { role: "tool", content: "x" },
      { role: "function", content: "x" },
      { content: "x" },
      { role: "assistant" },
      { role: "assistant", content: null, tool_calls: [], refusal: null },
      { role: "assistant", content: null, refusal: "no" },
      { role: "assistant", content: "" },
      { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: "" } }] },
      { role: "assistant", tool_calls: [{ id: "a" }] },
      { role: "assistant", content: 5, refusal: "no" },
    ];
    const accept = accepts("ChatCompletionRequest");
    const reads = passes(readChatRequest);
    const verdicts = messages.map((message) => {
      const body = { model: "m", messages: [message] };
      expect({ message, passes: reads(body) }).toEqual({ message, passes: accept(body) });
      return accept(body);
    });
    const passing = [1, 2, 5, 11, 12, 13];
    expect(verdicts).toEqual(messages.map((_, at) => passing.includes(at)));
  });

  test("completions: a prompt is in the document when one of its forms is taken", () => {
    compare({
      name: "CompletionRequest",
      base: examples.completionRequest,
      schema: completionRequest,
      reads: problemIn((body) => [readPrompts(body), readCompletionFields(body)]),
    });
    const accept = accepts("CompletionRequest");
    const reads = passes(readPrompts);
    for (const prompt of [
      "",
      [""],
      ["a", ""],
      [1, "a"],
      [[1], "a"],
      [-1],
      [[]],
      Array(101).fill("a"),
    ]) {
      const body = { model: "m", prompt };
      expect({ prompt, reads: reads(body), accepts: accept(body) }).toEqual({
        prompt,
        reads: false,
        accepts: false,
      });
    }
  });

  test("messages", () => {
    const base = examples.messagesRequest;
    const reads = problemIn(readMessagesRequest);
    compare({ name: "MessagesRequest", base, schema: messagesRequest, reads });
  });

  test("responses", () => {
    const reads = problemIn(reader(responseRequest));
    const base = { model: "m", input: "x" };
    compare({ name: "CreateResponseRequest", base, schema: responseRequest, reads });
  });

  test("speech", () => {
    const base = examples.speechRequest;
    const reads = problemIn(readSpeechRequest);
    compare({ name: "SpeechRequest", base, schema: speechRequest, reads });
  });

  test("embeddings: an input is in the document when a model of text or of media takes its form", () => {
    const base = examples.embeddingRequest;
    const text = passes((body) => [readEmbeddingRequest(body), readTextInput(body)]);
    const media = passes((body) => [readEmbeddingRequest(body), readMediaInput(body)]);
    const problem = problemIn((body) => [readEmbeddingRequest(body), readTextInput(body)]);
    compare({
      name: "EmbeddingRequest",
      base,
      schema: embeddingFields,
      reads: (body) => (media(body) ? undefined : problem(body)),
    });
    const accept = accepts("EmbeddingRequest");
    for (const input of ["", [""], ["a", ""]]) expect(accept({ model: "m", input })).toBe(false);
    const video = { video: { bytesBase64Encoded: "AAAA" } };
    for (const input of [
      "",
      [""],
      ["a", ""],
      video,
      [video],
      [video, video],
      ["a", video],
      Array(101).fill("a"),
    ]) {
      const body = { model: "m", input };
      expect({ input, passes: text(body) || media(body) }).toEqual({ input, passes: accept(body) });
    }
  });
});

test("every code in an example is one that callers can meet", () => {
  for (const [status, { code, type }] of Object.entries(examples.errors)) {
    const kind = errorKinds[code];
    expect({ code, type }).toEqual({ code, type: kind.type });
    if (status !== "default") expect(kind.status).toBe(Number(status) as typeof kind.status);
  }
});

test("every place that a request can be wrong in has words of our own", () => {
  const schemas = {
    chatRequest,
    completionRequest,
    embeddingRequest,
    messagesRequest,
    speechRequest,
  };
  const silent = Object.entries(schemas).flatMap(([name, schema]) =>
    placesWithoutWords(schema as unknown as JsonObject, name),
  );
  expect(silent).toEqual([]);
});

/** Fields and entries whose error would be told in the validator's words. */
function placesWithoutWords(schema: JsonObject, at: string): readonly string[] {
  const fields = Object.entries((schema["properties"] ?? {}) as Record<string, JsonObject>);
  const forms = (schema["anyOf"] ?? schema["oneOf"] ?? []) as readonly JsonObject[];
  const items = schema["items"] as JsonObject | undefined;
  const inner: readonly (readonly [string, JsonObject])[] = [
    ...fields.map(([name, field]) => [`${at}.${name}`, field] as const),
    ...(items === undefined ? [] : [[`${at}[]`, items] as const]),
  ];
  return [
    // A constant is the tag of its kind: its own words are those of the choice.
    ...inner
      .filter(([, one]) => one["const"] === undefined && one["x-says"] === undefined)
      .map(([place]) => place),
    ...inner.flatMap(([place, one]) => placesWithoutWords(one, place)),
    ...forms.flatMap((form) => placesWithoutWords(form, at)),
  ];
}
