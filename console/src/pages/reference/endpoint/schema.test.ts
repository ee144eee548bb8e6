import { describe, expect, test } from "bun:test";
import { toPlatformOpenApi } from "../../../../../src/platform/http/openapi.ts";
import { routes } from "../../../../../src/platform/routes.ts";
import { toOpenApi } from "../../../../../src/wire/v1/openapi/openapi.ts";
import {
  baseUrlOf,
  type Endpoint,
  endpointsOf,
  type OpenApi,
  resolve,
  type Schema,
} from "../document.ts";
import { exampleOf, type Field, fieldsOf, typeWords } from "./schema.ts";

/** As the page gets it: through JSON. */
const served = (document: unknown) => JSON.parse(JSON.stringify(document)) as OpenApi;
const gateway = served(toOpenApi("http://127.0.0.1:8080/v1"));
const platform = served(toPlatformOpenApi(routes, "1.2.3"));
const ofGateway = endpointsOf(gateway, "gateway");
const ofPlatform = endpointsOf(platform, "platform");

const bodyOf = (id: string): Schema => {
  const endpoint = [...ofGateway, ...ofPlatform].find((one) => one.id === id);
  return endpoint?.body?.schema ?? {};
};
const field = (fields: readonly Field[], name: string): Field => {
  const found = fields.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no field ${name} in ${fields.map((one) => one.name)}`);
  return found;
};

describe("endpoints", () => {
  test("of the gateway are called by what they do, so that links are short", () => {
    expect(ofGateway.map(({ id }) => id)).toEqual([
      "chat",
      "completions",
      "responses",
      "retrieveResponse",
      "deleteResponse",
      "listResponseInputItems",
      "cancelResponse",
      "embeddings",
      "speech",
      "transcription",
      "messages",
      "countMessageTokens",
      "models",
      "retrieveModel",
      "listVoices",
    ]);
    expect(baseUrlOf(gateway)).toBe("http://127.0.0.1:8080/v1");
  });

  test("each have a name of their own over both APIs", () => {
    const ids = [...ofGateway, ...ofPlatform].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ofPlatform).toHaveLength(routes.length);
  });

  test("tell what is a preview, which scope a token needs and what is refused", () => {
    const [chat, speech] = ["chat", "speech"].map((id) => ofGateway.find((one) => one.id === id));
    expect([chat?.isPreview, speech?.isPreview]).toEqual([false, true]);
    expect(chat?.replies.map(({ status }) => status)).toContain("402");
    const members = ofPlatform.find(({ id }) => id === "getAccountsByAccountMembers");
    expect(members?.scope).toBe("members:read");
    expect(chat?.parameters.map(({ name }) => name)).toEqual(["Idempotency-Key"]);
  });
});

describe("fields", () => {
  const chat = fieldsOf(gateway, bodyOf("chat"));

  test("tell their type, limits and whether they must be there", () => {
    expect(field(chat, "model")).toMatchObject({ type: "string", isRequired: true });
    expect(field(chat, "temperature")).toMatchObject({
      type: "number",
      limits: "0 to 2",
      isRequired: false,
      hasInner: false,
    });
    expect(field(chat, "stop").type).toBe("string or list of strings");
    expect(field(fieldsOf(gateway, bodyOf("embeddings")), "dimensions").values).toEqual([
      "768",
      "1536",
      "3072",
    ]);
  });

  test("that hold others can be opened, down to the last", () => {
    const messages = field(chat, "messages");
    expect(messages.type).toBe("list of objects");
    const user = field(messages.inner(), "role: user");
    expect(user.isForm).toBe(true);
    const content = field(user.inner(), "content");
    expect(content.isRequired).toBe(true);
    expect(
      field(field(chat, "tools").inner(), "function")
        .inner()
        .map(({ name }) => name),
    ).toContain("parameters");
  });

  test("that may be null say what they are otherwise", () => {
    const schema: Schema = { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }] };
    expect(typeWords(platform, schema)).toBe("moment");
  });

  test("of a schema that holds itself are made only as far as one looks", () => {
    const circular = served({
      info: {},
      paths: {},
      components: {
        schemas: {
          Tree: {
            type: "object",
            properties: { leaves: { type: "array", items: { $ref: "#/components/schemas/Tree" } } },
          },
          Loop: { $ref: "#/components/schemas/Loop" },
        },
      },
    });
    const [leaves] = fieldsOf(circular, { $ref: "#/components/schemas/Tree" });
    expect(leaves?.inner().map(({ name }) => name)).toEqual(["leaves"]);
    expect(resolve<Schema>(circular, { $ref: "#/components/schemas/Loop" })).toBeDefined();
  });

  test("can be shown for every body and reply there is", () => {
    const walk = (fields: readonly Field[], depth: number): number =>
      depth > 6 ? 0 : fields.reduce((sum, one) => sum + 1 + walk(one.inner(), depth + 1), 0);
    const schemas = (endpoint: Endpoint) => [
      endpoint.body?.schema,
      ...endpoint.replies.flatMap(({ contents }) => contents.map(({ schema }) => schema)),
    ];
    const count = (document: OpenApi, endpoints: readonly Endpoint[]) =>
      endpoints
        .flatMap(schemas)
        .flatMap((schema) => schema ?? [])
        .reduce((sum, schema) => sum + walk(fieldsOf(document, schema), 0), 0);
    expect(count(gateway, ofGateway)).toBeGreaterThan(100);
    expect(count(platform, ofPlatform)).toBeGreaterThan(100);
  });
});

test("a body to begin with has what is required, with values of the right kind", () => {
  expect(exampleOf(platform, bodyOf("postAccountsByAccountInvites"))).toEqual({ role: "owner" });
  expect(exampleOf(platform, bodyOf("postAccountsByAccountTokens"))).toEqual({
    name: "",
    scopes: ["usage:read"],
    role: "owner",
  });
});
