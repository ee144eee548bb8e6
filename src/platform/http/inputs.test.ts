/** Wrong input of every route, generated from its schemas: what a handler never gets to see. */

import { describe, expect, test } from "bun:test";
import {
  type InputKind,
  type InputSchema,
  sampleOf,
  wrongInputs,
} from "../../../test/setup/schema-inputs.ts";
import { createLog } from "../../base/log.ts";
import { SessionSecrets } from "../../people/session-secrets.ts";
import { routes } from "../routes.ts";
import { Api } from "./api.ts";
import { bodyTypeOf, type Route } from "./route.ts";

const session = {
  id: "session_1",
  userId: "user_1",
  hash: "",
  createdAtMs: 0,
  lastSeenMs: 0,
  expiresAtMs: 1,
  verifiedAtMs: Number.POSITIVE_INFINITY,
  userAgent: "",
  address: "",
};
const user = {
  id: "user_1",
  email: "ada@example.com",
  name: "Ada",
  passwordHash: "",
  isOperator: true,
  createdAtMs: 0,
};
const operator = { user, memberships: [], session, mustAddFactor: false };
const clock = { ms: 0 };

/** All routes with a handler that only says that it was reached. */
const api = new Api({
  routes: routes.map(({ beforeBody: _beforeBody, reply: _reply, ...route }: Route) => ({
    ...route,
    handle: async () => "reached",
  })),
  extend: () => ({}),
  dependencies: {
    people: { find: async () => operator },
    tokens: { find: async () => undefined },
    sessionSecrets: new SessionSecrets(new Uint8Array(32)),
    accounts: { find: async (id) => ({ id, name: "test", createdAtMs: 0 }) },
    // The number of changes per second is limited.
    clock: { nowMs: () => (clock.ms += 1_000) },
    log: createLog({ level: "silent", pretty: false, write: () => {} }),
    platformUrl: () => "http://127.0.0.1:8081",
  },
});

async function ask(route: Route, input: { readonly query?: unknown; readonly body?: unknown }) {
  const [method = "", path = ""] = route.name.split(" ");
  const {
    query = route.query && sampleOf(route.query),
    body = route.body && sampleOf(route.body),
  } = input;
  const search = query === undefined ? "" : `?${toText(query)}`;
  const request = new Request(`http://127.0.0.1:8081${path.replaceAll(":", "")}${search}`, {
    method,
    headers: { cookie: "svc_session=program-1", "content-type": bodyTypeOf(route) },
    ...(body === undefined
      ? {}
      : { body: route.isForm === true ? toText(body) : JSON.stringify(body) }),
  });
  const reply = await api.respond(request, "127.0.0.1");
  if (reply === undefined) throw new Error(`no route ${route.name}`);
  return { status: reply.status, text: await reply.text() };
}

/** What is undefined is left out, as in JSON. */
function toText(input: unknown): string {
  const fields = Object.entries(JSON.parse(JSON.stringify(input)) as object);
  return new URLSearchParams(fields.map(([name, value]) => [name, String(value)])).toString();
}

/** The field is named, and then what it must be. */
function messageOf(field: string): string {
  if (field.endsWith("colour")) return 'Unknown field "colour".';
  return `${field === "" ? "The body" : field} must be `;
}

const inputs = routes.flatMap(({ name, query, body, ...route }: Route) => {
  const bodyKind: InputKind = route.isForm === true ? "text" : "json";
  return [
    ...(query === undefined ? [] : [{ name, part: "query", schema: query, kind: "text" as const }]),
    ...(body === undefined ? [] : [{ name, part: "body", schema: body, kind: bodyKind }]),
  ];
});

describe("wrong input is refused at its field:", () => {
  test.each(inputs.map((input) => [input.name, input.part, input] as const))(
    "%s, %s",
    async (name, part, { kind, schema }) => {
      const route = routes.find((one) => one.name === name) as Route;
      expect(await ask(route, {})).toEqual({ status: 200, text: '"reached"' });
      const wrong = wrongInputs(kind, schema as InputSchema);
      const answers: unknown[] = [];
      for (const { field, input } of wrong) {
        const { status, text } = await ask(route, { [part]: input });
        const { error } = JSON.parse(text);
        const isNamed = error?.message.replace(" is required and", "").startsWith(messageOf(field));
        if (status !== 400 || error.code !== "invalid" || (error.field ?? "") !== field || !isNamed)
          answers.push({ field, input, status, text });
      }
      expect(answers).toEqual([]);
      expect(wrong.length).toBeGreaterThan(0);
    },
  );
});

/** Places of a schema that accept text or a list of any length. */
function unbounded(schema: InputSchema, at: string): readonly string[] {
  const { type, items, properties = {}, patternProperties = {}, anyOf = [] } = schema;
  const isText = type === "string" && schema.enum === undefined && schema.const === undefined;
  const isOpen = isText && schema.maxLength === undefined && schema.pattern === undefined;
  return [
    ...(isOpen || (type === "array" && schema.maxItems === undefined) ? [at] : []),
    ...Object.entries({ ...properties, ...patternProperties }).flatMap(([name, field]) =>
      unbounded(field, `${at}.${name}`),
    ),
    ...[...(items === undefined ? [] : [items]), ...anyOf].flatMap((one) => unbounded(one, at)),
  ];
}

test("every text and every list of an input has an upper bound", () => {
  expect(
    inputs.flatMap(({ name, schema }) => unbounded(schema as InputSchema, name as string)),
  ).toEqual([]);
});
