/** `svc requests`: admitted and rejected calls, listed or followed. */

import { beforeAll, expect, test } from "bun:test";
import type { CallView } from "../../../src/platform/calls/views.ts";
import { failures } from "../../fake/recordings.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { refusal } from "../../setup/outcomes.ts";
import { useRichAndPoor } from "../../setup/rich-and-poor.ts";

const { upstream, home, server, keys, chat } = await useRichAndPoor();

const list = (line = "") => home.json<readonly CallView[]>(`requests ${line}`.trim());
const outcomes = async (line?: string) =>
  (await list(line)).map(({ account_name, outcome }) => `${account_name} ${outcome}`);

/** A served call, a failed one and two rejected ones of "rich"; twelve of "poor". */
beforeAll(async () => {
  await chat("rich");
  upstream.replyOnce(failures.internal());
  await chat("rich");
  await chat("rich", { temperature: 9 });
  await chat("rich", { model: "no-such-model" });
  for (let at = 0; at < 12; at++) await chat("poor");
  await waitUntil("two receipts", async () => (await list("--account rich")).length === 4);
});

test("lists admitted and rejected calls by time, the newest first", async () => {
  const calls = await list();
  expect(calls.map(({ id }) => id)).toEqual(
    calls
      .map(({ id }) => id)
      .toSorted()
      .toReversed(),
  );
  expect(await outcomes("--account rich")).toEqual([
    "rich model_not_allowed",
    "rich invalid_request",
    "rich upstream_error",
    "rich ok",
  ]);
  const poor = await list("--account poor");
  expect(poor.map(({ count }) => count)).toEqual([2, ...Array(10).fill(1)]);
  expect(poor[0]).toMatchObject({
    kind: "rejected",
    key: keys.poor.id,
    key_name: expect.stringContaining("sk-svc-"),
    reason: null,
    status: 402,
    outcome: "insufficient_quota",
    message: expect.stringContaining("USD"),
    charged_usd: "0.00",
    duration_ms: null,
  });
});

test("keeps to its filters", async () => {
  expect(await outcomes("--account rich --rejected")).toEqual([
    "rich model_not_allowed",
    "rich invalid_request",
  ]);
  expect(await outcomes("--failed")).toEqual(["rich upstream_error"]);
  expect(await outcomes("--account rich --rejected --failed")).toHaveLength(3);
  expect(await outcomes("--code invalid_request")).toEqual(["rich invalid_request"]);
  expect(await outcomes("--code upstream_error")).toEqual(["rich upstream_error"]);
  expect(await outcomes("--model no-such-model")).toEqual(["rich model_not_allowed"]);
  expect(await outcomes(`--key ${keys.poor.id}`)).toHaveLength(11);
  expect(await outcomes("--account rich --dialect chat")).toHaveLength(4);
  expect(await outcomes("--dialect messages")).toEqual([]);
  expect(await outcomes("--since 1h --limit 3")).toHaveLength(3);
  expect(await outcomes("--since 2099-01-01")).toEqual([]);
});

test("is readable, and says what is wrong with a flag", async () => {
  const { stdout } = await home.svc("requests --account poor --limit 1");
  expect(stdout).toContain("2 × insufficient_quota");
  expect(stdout).toMatch(/account +key +model +dialect/);
  const unknown = await home.svc("requests --model no-such-model");
  expect(unknown.stdout).toContain("[unknown_model] Model");
  expect(stdout).toContain("Showing the newest 1. --limit N shows more.");
  expect((await home.svc("requests --model none")).stdout).toContain("No calls match.");
  for (const [line, text] of [
    ["--limit 0", "--limit"],
    ["--dialect telegraph", "--dialect: Must be chat, responses, messages or completions"],
    ["--limit 1001", "between 1 and 1000"],
    ["--since soon", "--since: Must be a duration such as 10m"],
    ["--follow --limit 5", "cannot be combined with --follow"],
  ] as const) {
    const { code, stderr } = await home.svc(`requests ${line}`);
    expect([line, code]).toEqual([line, 2]);
    expect(stderr).toContain(text);
  }
  expect((await home.svc("requests --account nobody")).code).toBe(3);
});

test("without a server it lists what is stored, and has nothing to follow", async () => {
  await server.stop();
  expect(await outcomes("--failed")).toEqual(["rich upstream_error"]);
  expect((await list("--account poor --rejected")).length).toBeGreaterThan(10);
  expect(await home.svc("requests --follow")).toMatchObject(refusal(1, "No server is running"));
});

test("the list of keys tells a key that was only ever rejected from one that was not used", async () => {
  await home.json("key create --account poor --name idle");
  const { stdout } = await home.svc("key list --account poor");
  expect(stdout).toMatch(/idle .*never\n/);
  expect(stdout).toMatch(/rejected (just now|\d+ min ago)\n/);
  for (const line of stdout.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(100);
});
