import { describe, expect, test } from "bun:test";
import { ApiError } from "../../base/errors.ts";
import type { JsonObject } from "../../call/chat.ts";
import { toMessages, toOptions } from "./to-messages.ts";

const plain = { takesDetails: false };

function refusalOf(messages: readonly JsonObject[]) {
  try {
    toMessages(messages, plain);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  return undefined;
}

describe("an image", () => {
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
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "10.1.2.3:9000",
    "192.168.0.1",
    "172.16.0.1",
    "100.64.0.1",
    "0.0.0.0",
    "169.254.169.254",
    "100.100.100.200",
    "metadata",
    "vault.",
    "metadata.google.internal",
    "printer.local",
    "vault.internal.",
    "user:pass@10.0.0.1",
    "[::1]",
    "[fd00::1]",
    "[fe80::1]",
    "[::ffff:10.0.0.1]",
    "[fd00:0ec2::254]",
    "[64:ff9b:1::a9fe:a9fe]",
  ])
    test(`inside the operator's network is not fetched for a caller: ${host}`, () => {
      const error = refusalOf(imageAt(`http://${host}/a.png`));
      expect([error?.code, error?.param]).toEqual([
        "invalid_request",
        "messages[1].content[1].image_url.url",
      ]);
      expect(error?.message).not.toContain(host);
    });

  test("that is a file of the server's own is not read for a caller", () => {
    for (const url of ["file:///etc/passwd", "file://10.0.0.1/share/a.png", "FILE:/etc/passwd"])
      expect([url, refusalOf(imageAt(url))?.code]).toEqual([url, "invalid_request"]);
  });

  for (const url of [
    "https://images.example/a.png",
    "gs://bucket/a.png",
    "http://8.8.8.8/a.png",
    "https://[2606:4700::1]/a.png",
    "https://localhost.example/a.png",
    "data:image/png;base64,iVBORw0KGgo=",
    "no address at all",
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
    expect(toOptions(options, { cap: 100, keepsReplies: true })).toEqual({
      temperature: 0,
      thinking: { type: "enabled", budget_tokens: 100 },
      reasoning: { effort: "high", max_tokens: 100 },
    });
    expect(options).toEqual(before);
  });

  test("within the whole go as they are", () => {
    expect(toOptions(options, { cap: 9_000, keepsReplies: true })).toBe(options);
    expect(toOptions(options, { cap: undefined, keepsReplies: true })).toBe(options);
    const odd = { thinking: "yes", reasoning: { max_tokens: "9000" } };
    expect(toOptions(odd, { cap: 1, keepsReplies: true })).toBe(odd);
  });

  test("are bounded also where other wishes are left away", () => {
    const more = { ...options, store: true, metadata: { a: "b" } };
    expect(toOptions(more, { cap: 8_500, keepsReplies: false })).toEqual({
      ...options,
      thinking: { type: "enabled", budget_tokens: 8_500 },
    });
  });
});
