import { describe, expect, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { mostInputTokens } from "../../../call/chat-size.ts";
import { toResponseOrder } from "./order.ts";

/** Everything that a request can have, so that each place in it can be made longer. */
const schema = { type: "object" };
const functionTool = (name: string) => ({ type: "function", name, parameters: schema });
const png = "data:image/png;base64,iVBORw0KGgo=";
const full: JsonObject = {
  model: "m",
  max_output_tokens: 100,
  instructions: "i",
  tools: [
    { ...functionTool("t"), description: "d", strict: false },
    {
      type: "custom",
      name: "c",
      description: "d",
      format: { type: "grammar", syntax: "lark", definition: "g" },
    },
    { type: "custom", name: "c2", format: { type: "text" } },
    {
      type: "namespace",
      name: "n",
      description: "d",
      tools: [functionTool("t"), { type: "custom", name: "k" }],
    },
    { type: "tool_search", execution: "client", description: "d", parameters: schema },
    { type: "shell", environment: { type: "local" } },
    { type: "apply_patch" },
  ],
  tool_choice: {
    type: "allowed_tools",
    mode: "auto",
    tools: [{ type: "function", name: "t" }],
  },
  text: {
    verbosity: "low",
    format: { type: "json_schema", name: "s", schema, description: "d", strict: true },
  },
  reasoning: { effort: "low", summary: "auto" },
  include: ["reasoning.encrypted_content"],
  stream_options: { include_obfuscation: false },
  user: "u",
  safety_identifier: "s",
  prompt_cache_key: "p",
  truncation: "auto",
  service_tier: "default",
  metadata: { a: "b" },
  input: [
    {
      type: "message",
      id: "msg_1",
      role: "user",
      content: [
        { type: "input_text", text: "hi" },
        { type: "input_image", image_url: png, detail: "low" },
        { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,AAAA" },
      ],
    },
    { role: "developer", content: "dev" },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "su" }],
      content: [{ type: "reasoning_text", text: "co" }],
      encrypted_content: "enc",
    },
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [
        { type: "output_text", text: "ot", annotations: [{ type: "url_citation", title: "t" }] },
        { type: "refusal", refusal: "no" },
      ],
    },
    { type: "function_call", id: "fc_1", call_id: "c1", name: "t", arguments: "{}" },
    { type: "function_call", call_id: "c9", name: "t", namespace: "n", arguments: "{}" },
    {
      type: "function_call_output",
      call_id: "c1",
      output: [{ type: "input_text", text: "r" }],
    },
    { type: "function_call_output", call_id: "c9", output: "r" },
    { type: "custom_tool_call", call_id: "c2", name: "c", input: "x" },
    { type: "custom_tool_call_output", call_id: "c2", output: "y" },
    { type: "tool_search_call", call_id: "c3", arguments: { q: "z" }, status: "completed" },
    { type: "tool_search_output", call_id: "c3", tools: [functionTool("found")] },
    { type: "tool_search_call", arguments: { q: "z" } },
    { type: "tool_search_output", tools: [functionTool("found2")] },
    {
      type: "additional_tools",
      role: "developer",
      tools: [functionTool("more"), { type: "custom", name: "more2" }],
    },
    { type: "local_shell_call", call_id: "c4", action: { type: "exec", command: ["ls"] } },
    { type: "local_shell_call_output", call_id: "c4", output: "o" },
    { type: "computer_call", call_id: "c5", action: { type: "screenshot" } },
    {
      type: "computer_call_output",
      call_id: "c5",
      output: { type: "computer_screenshot", image_url: png },
      acknowledged_safety_checks: [{ id: "a", message: "m" }],
    },
    { type: "apply_patch_call", call_id: "c6", operation: { type: "delete_file", path: "p" } },
    { type: "compaction", encrypted_content: "e" },
    {
      type: "code_interpreter_call",
      code: "x",
      outputs: [
        { type: "logs", logs: "l" },
        { type: "image", url: "https://example.com/a.png" },
      ],
    },
    { role: "user", content: "more" },
  ],
};

const mark = "MARK";
const long = mark.repeat(250);

function sizesOf(body: JsonObject, history: readonly JsonObject[] = []) {
  const { call } = toResponseOrder(body, {
    modelId: "model",
    headers: new Headers(),
    maxOutputTokens: undefined,
    history,
    canStore: true,
  });
  return { held: mostInputTokens(call, 1_000), sent: JSON.stringify(call.original?.body) };
}
const usual = sizesOf(full);

type Path = readonly (string | number)[];

function* placesIn(value: Json | undefined, path: Path = []): Generator<Path> {
  if (typeof value === "string") yield path;
  else if (Array.isArray(value))
    for (const [at, entry] of value.entries()) yield* placesIn(entry, [...path, at]);
  else if (isJsonObject(value)) {
    yield path;
    for (const name in value) yield* placesIn(value[name], [...path, name]);
  }
}

/** The same with another value in one place. */
function changed(value: Json | undefined, path: Path, change: (value: Json) => Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return change(value ?? null);
  if (Array.isArray(value))
    return value.map((entry, at) => (at === first ? changed(entry, rest, change) : entry));
  const owner = isJsonObject(value) ? value : {};
  return { ...owner, [first]: changed(owner[first], rest, change) };
}

const places = [...placesIn(full)];
const lastOf = (path: Path) => path.at(-1);
const names = [...new Set(["x", ...places.map(lastOf).filter((name) => typeof name === "string")])];

/** What a place counts anyway that a change of it can take away. */
const slackBytes = 100;

/** Whether all of a longer request that goes to the vendor is held for. An invalid one never goes. */
function isHeld(body: Json, { held } = usual): boolean {
  return stateOf(body, held) !== "free";
}

function stateOf(body: Json, held: number): "invalid" | "held" | "free" {
  let sizes: ReturnType<typeof sizesOf>;
  try {
    sizes = sizesOf(body as JsonObject);
  } catch {
    return "invalid";
  }
  const isFree = sizes.sent.includes(mark) && sizes.held < held + long.length - slackBytes;
  return isFree ? "free" : "held";
}

describe("the hold of what goes to a vendor of the dialect covers", () => {
  test("every text of a request, however long it is", () => {
    const free = places.filter(
      (path) =>
        // Images cost what their pixels cost.
        lastOf(path) !== "image_url" &&
        !isHeld(changed(full, path, (value) => (typeof value === "string" ? value + long : value))),
    );
    expect(free).toEqual([]);
  });

  test("every field that an object might have besides", () => {
    const free: string[] = [];
    for (const path of places)
      for (const name of names)
        for (const added of [long, { a: long }]) {
          const body = changed(full, path, (value) =>
            isJsonObject(value) && value[name] === undefined ? { ...value, [name]: added } : value,
          );
          const state = stateOf(body, usual.held);
          if (state === "free") free.push([...path, name].join("."));
          // An object is tried where a text is invalid.
          if (state !== "invalid") break;
        }
    expect(free).toEqual([]);
  });

  for (const type of ["text", "json_object"])
    test(`every field beside a format of ${type}`, () => {
      const plain = sizesOf({ ...full, text: { format: { type } } });
      for (const name of ["name", "schema", "description", "strict", "x"])
        expect(isHeld({ ...full, text: { format: { type, [name]: long } } }, plain)).toBe(true);
    });

  test("items of a stored reply that are of no known kind", () => {
    const { held, sent } = sizesOf(full, [{ type: "future_call", data: long }]);
    expect(sent).toContain(mark);
    expect(held).toBeGreaterThanOrEqual(usual.held + long.length);
  });
});

test("images that a vendor's interpreter made are not sent back", () => {
  expect(usual.sent).toContain('"outputs":[{"type":"logs","logs":"l"}]');
});
