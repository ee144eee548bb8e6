import { describe, expect, test } from "bun:test";
import { apiErrorIn } from "../../../test/providers/failure-of.ts";
import type { JsonObject } from "../../call/chat.ts";
import { plainQuirks, type Quirks, type ReasoningForm } from "../../call/quirks.ts";
import { toFieldRules } from "./field-rules.ts";
import { toMessages, toOptions } from "./to-messages.ts";

const plain = { takesUrls: true };

function expectRefused(messages: readonly JsonObject[], param: string, options = plain) {
  const error = apiErrorIn(() => toMessages(messages, options));
  expect([error.code, error.param]).toEqual(["invalid_request", param]);
  return error;
}

describe("an image", () => {
  const place = "messages[1].content[1].image_url.url";
  const imageAt = (url: string) => [
    { role: "system", content: "Be short." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url } },
      ],
    },
  ];

  for (const host of [
    "localhost",
    "LOCALHOST:8080",
    "a.localhost",
    "127.1",
    "10.1.2.3:9000",
    "169.254.169.254",
    "metadata",
    "vault.",
    "metadata.google.internal",
    "printer.local",
    "vault.internal.",
    "user:pass@10.0.0.1",
    "[::1]",
    "[64:ff9b:1::a9fe:a9fe]",
    "api.default.svc",
    "api.default.svc.cluster.local",
    "wiki.corp",
    "nas.lan",
    "router.home.arpa",
    "build.intranet.",
    "127.0.0.1.nip.io",
    "7f000001.nip.io",
    "10-0-0-1.sslip.io",
    "app.10.1.2.3.names.example",
    "ip-192-168-0-1.names.example",
    "localtest.me",
  ])
    test(`inside the operator's network is not fetched for a caller: ${host}`, () => {
      const { message } = expectRefused(imageAt(`http://${host}/a.png`), place);
      expect(message).not.toContain(host);
    });

  for (const url of [
    "file:///etc/passwd",
    "file://10.0.0.1/share/a.png",
    "FILE:/etc/passwd",
    "ftp://images.example/a.png",
    "gopher://images.example/",
    "dict://10.0.0.1:11211/stats",
    "unix:/var/run/docker.sock",
    "gs://bucket/a.png",
    "s3://bucket/a.png",
    "//10.0.0.1/a.png",
    "/etc/passwd",
    "no address at all",
    "",
    "http://",
    "http://user@images.example/a.png",
    "http://images.example:x/a.png",
    `https://images.example/${"a".repeat(9_000)}`,
  ])
    test(`is named by http(s) or sent as data: ${url.slice(0, 40)}`, () => {
      expectRefused(imageAt(url), place);
    });

  for (const [given, sent] of [
    ["http://public.example\\@127.0.0.1/x", "http://public.example/@127.0.0.1/x"],
    ["https:\\\\public.example\\a.png", "https://public.example/a.png"],
    ["http:public.example/a.png", "http://public.example/a.png"],
    ["HTTPS://PUBLIC.example/a\tb.png", "https://public.example/ab.png"],
    ["http://0x08080808/a.png", "http://8.8.8.8/a.png"],
  ] as const)
    test(`goes on as it was parsed, so that nobody reads another host: ${given}`, () => {
      const messages = imageAt(given);
      const before = structuredClone(messages);
      expect(toMessages(messages, plain)).toEqual(imageAt(sent));
      expect(messages).toEqual(before);
    });

  test("goes to a server that may not fetch as data only", () => {
    const own = { ...plain, takesUrls: false };
    expectRefused(imageAt("https://images.example/a.png"), place, own);
    const messages = imageAt("data:image/png;base64,iVBORw0KGgo=");
    expect(toMessages(messages, own)).toBe(messages);
  });

  for (const [part, param] of [
    [{ type: "text", text: "a", image_url: "http://10.0.0.1/a" }, "image_url"],
    [{ type: "input_audio", input_audio: { url: "http://10.0.0.1/a" } }, "input_audio.url"],
    [{ type: "video_url", video_url: { url: "http://10.0.0.1/a" } }, "video_url.url"],
    [{ type: "file", file: { file_url: "http://10.0.0.1/a" } }, "file.file_url"],
    [{ type: "file", fileData: { fileUri: "gs://bucket/a" } }, "fileData.fileUri"],
    [{ type: "x", content: [{ image_url: { url: "file:///a" } }] }, "content[0].image_url.url"],
  ] as const)
    test(`is guarded in every kind of part, and in what tools gave back: ${param}`, () => {
      for (const role of ["user", "tool", "assistant", "system"])
        expectRefused([{ role, content: [part] }], `messages[0].content[0].${param}`);
    });

  for (const url of [
    "https://images.example/a.png",
    "http://8.8.8.8/a.png",
    "https://[2606:4700::1]/a.png",
    "https://localhost.example/a.png",
    "https://54-12-1-2.names.example/a.png",
    "https://images.example/a.png?sig=a%2Fb&x=%5C",
    "data:image/png;base64,iVBORw0KGgo=",
  ])
    test(`at a public address, or itself, goes as it is: ${url.slice(0, 40)}`, () => {
      const messages = imageAt(url);
      expect(toMessages(messages, plain)).toBe(messages);
    });
});

describe("what is read from a cache", () => {
  const longer = {
    role: "user",
    content: [
      { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } },
      { type: "text", text: "b", cache_control: { type: "ephemeral" } },
      { type: "text", text: "c" },
    ],
  };

  test("is kept no longer than usual: that would cost more than is known of", () => {
    const messages = [{ role: "system", content: "x" }, longer];
    const before = structuredClone(messages);
    const sent = toMessages(messages, plain);
    expect(sent).toEqual([
      messages[0] ?? {},
      {
        role: "user",
        content: [
          { type: "text", text: "a", cache_control: { type: "ephemeral" } },
          ...longer.content.slice(1),
        ],
      },
    ]);
    // Another target may get the same messages.
    expect(messages).toEqual(before);
  });

  const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const usual = { cache_control: { type: "ephemeral" } };
  const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };

  test("nor where a message, a tool call or what a tool gave back asks for it", () => {
    const messages = (cache: JsonObject) => [
      { role: "system", content: "a", ...cache },
      { role: "assistant", content: null, tool_calls: [{ ...call, ...cache }] },
      {
        role: "tool",
        tool_call_id: "c",
        content: [{ type: "text", text: "b", ...cache }],
        ...cache,
      },
    ];
    expect(toMessages(messages(hour), plain)).toEqual(messages(usual));
    const untouched = messages(usual);
    expect(toMessages(untouched, plain)).toBe(untouched);
  });

  test("nor where a tool does, at either of its levels", () => {
    const tools = (cache: JsonObject) => ({
      tools: [
        { type: "function", function: { name: "f" } },
        { type: "function", function: { name: "g", ...cache }, ...cache },
      ],
    });
    for (const cap of [undefined, 10])
      expect(toOptions(tools(hour), { cap, rules: [] })).toEqual(tools(usual));
    const untouched = tools(usual);
    expect(toOptions(untouched, { cap: 10, rules: [] })).toBe(untouched);
  });

  test("for the usual time is left as it was asked for", () => {
    const messages = [{ ...longer, content: longer.content.slice(1) }];
    expect(toMessages(messages, plain)).toBe(messages);
  });
});

describe("thoughts", () => {
  const options = {
    temperature: 0,
    thinking: { type: "enabled", budget_tokens: 9_000 },
    reasoning: { effort: "high", max_tokens: 8_000 },
  };

  test("are allowed no more than the whole answer is, and the caller's wish is not changed", () => {
    const before = structuredClone(options);
    expect(toOptions(options, { cap: 100, rules: [] })).toEqual({
      temperature: 0,
      thinking: { type: "enabled", budget_tokens: 100 },
      reasoning: { effort: "high", max_tokens: 100 },
    });
    expect(options).toEqual(before);
  });

  test("within the whole go as they are", () => {
    expect(toOptions(options, { cap: 9_000, rules: [] })).toBe(options);
    expect(toOptions(options, { cap: undefined, rules: [] })).toBe(options);
    const odd = { thinking: "yes", reasoning: { max_tokens: "9000" } };
    expect(toOptions(odd, { cap: 1, rules: [] })).toBe(odd);
  });

  test("are bounded also where other wishes are left away", () => {
    const more = { ...options, store: true, metadata: { a: "b" } };
    expect(toOptions(more, { cap: 8_500, rules: toFieldRules(plainQuirks) })).toEqual({
      ...options,
      thinking: { type: "enabled", budget_tokens: 8_500 },
    });
  });
});

describe("reasoning that is sent back", () => {
  const both = { role: "assistant", content: "4", reasoning_content: "hm", reasoning: "hm" };
  const { reasoning: _name, ...long } = both;
  const { reasoning_content: _long, ...short } = both;
  const plainAnswer = { role: "assistant", content: "4" };
  const sentAs = (reasoningBack: ReasoningForm, message: JsonObject) =>
    toMessages([message], { ...plain, reasoningBack })[0];

  test("goes by the name that the server knows, and as it is where it has it", () => {
    for (const message of [both, long, short]) {
      expect(sentAs("reasoning", message)).toEqual(short);
      expect(sentAs("reasoning_content", message)).toEqual(long);
      expect(sentAs("none", message)).toEqual(plainAnswer);
    }
    expect(sentAs("reasoning", short)).toBe(short);
    expect(sentAs("reasoning_content", long)).toBe(long);
    expect(sentAs("none", plainAnswer)).toBe(plainAnswer);
  });

  test("goes as parts of the content, before its text", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    const text = { type: "text", text: "4" };
    for (const content of ["4", [text]])
      expect(sentAs("parts", { ...long, content })).toEqual({
        role: "assistant",
        content: [thinking, text],
      });
    const calls = [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }];
    expect(sentAs("parts", { ...long, content: null, tool_calls: calls })).toEqual({
      role: "assistant",
      content: [thinking],
      tool_calls: calls,
    });
    expect(sentAs("parts", { ...long, reasoning_content: null })).toEqual(plainAnswer);
  });

  test("stays under the caller's names where nothing is known of the server", () => {
    const messages = [both, { role: "developer", content: "Be short." }];
    expect(toMessages(messages, plain)).toBe(messages);
  });
});

describe("request fields", () => {
  const all = {
    temperature: 0,
    seed: 7,
    user: "u",
    store: true,
    prompt_cache_key: "k",
    service_tier: "default",
  };
  const rulesOf = (quirks: Partial<Quirks>) => toFieldRules({ ...plainQuirks, ...quirks });

  test("that only some servers know go to those alone", () => {
    const { store: _store, prompt_cache_key: _key, service_tier: _tier, ...rest } = all;
    expect(toOptions(all, { cap: undefined, rules: rulesOf({}) })).toEqual(rest);
    const takes = ["store", "prompt_cache_key", "service_tier"] as const;
    expect(toOptions(all, { cap: undefined, rules: rulesOf({ takes }) })).toBe(all);
  });

  test("are renamed or left out as the server needs it, and the caller's stay as they are", () => {
    const before = structuredClone(all);
    const rules = rulesOf({ renames: { seed: "random_seed" }, drops: ["user"] });
    expect(toOptions(all, { cap: undefined, rules })).toEqual({ temperature: 0, random_seed: 7 });
    expect(all).toEqual(before);
    const ordinary = { temperature: 0, tools: [] };
    expect(toOptions(ordinary, { cap: 10, rules })).toBe(ordinary);
  });

  test("that change the bill never go: of the tiers only the one that the price is for", () => {
    const rules = rulesOf({ takes: ["service_tier"] });
    for (const service_tier of ["auto", "flex", "priority", "scale", "x", null, 1])
      expect(toOptions({ service_tier }, { cap: undefined, rules })).toEqual({});
  });
});
