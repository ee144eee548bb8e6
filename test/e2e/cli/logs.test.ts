/** `svc logs`: the lines of the running server, and of a file. */

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { failures } from "../../fake/recordings.ts";
import { createHome } from "../../setup/child.ts";
import { refusal } from "../../setup/outcomes.ts";
import { linesIn, useRichAndPoor } from "../../setup/rich-and-poor.ts";

const {
  upstream,
  home,
  server,
  chat: chatAs,
} = await useRichAndPoor({
  SVC_LOG_LEVEL: "debug",
  SVC_SLOW_REQUEST_MS: "1",
});
const chat = (model = "svc-3-flash") => chatAs("rich", { model });

interface Line extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly message: string;
}

async function logs(line = "", stdin?: string): Promise<readonly Line[]> {
  const options = stdin === undefined ? {} : { stdin };
  const { stdout, stderr, code } = await home.svc(`logs --json ${line}`.trim(), options);
  if (code !== 0) throw new Error(stderr);
  return linesIn<Line>(stdout);
}

test("shows the lines of the running server as they are on stderr, and those of one request", async () => {
  upstream.replyOnce(failures.internal());
  const failed = await chat();
  const rejected = await chat("no-such-model");
  const all = await logs();
  expect(all.filter(({ event }) => event !== "slow_request")).toEqual(
    linesIn<Line>(server.stderr().replaceAll(/^[^{].*$/gm, "")).filter(
      ({ event }) => event !== "slow_request",
    ),
  );
  const of = async (line: string) => (await logs(line)).map(({ message }) => message);
  expect(await of(`--request ${failed} --level warn`)).toContain("request failed");
  expect(await of(`--request ${rejected}`)).toEqual(["request rejected"]);
  expect(await of(`--request ${rejected} --level info`)).toEqual([]);
  expect(await of("--since 2099-01-01")).toEqual([]);
  expect((await of("--since 1h")).length).toBe((await of("")).length);
  expect((await of("--limit 1")).length).toBe(1);
});

test("a slow request has a line with its phases, and --slow shows only those", async () => {
  let slow: readonly Line[] = [];
  while (slow.length === 0) {
    await chat();
    slow = await logs("--slow");
  }
  const [line] = slow;
  expect(line).toMatchObject({
    level: "warn",
    message: "slow request",
    endpoint: "chat",
    model: "svc-3-flash",
    provider: "fake",
    attempts: 1,
    retries_ms: 0,
  });
  expect(String(line?.["request_id"])).toStartWith("req_");
  expect(String(line?.["account_id"])).toStartWith("acct_");
  expect(String(line?.["key_id"])).toStartWith("key_");
  const sum = (names: readonly string[]) =>
    names.reduce((ms, name) => ms + Number(line?.[name]), 0);
  expect(sum(["before_ms", "retries_ms", "provider_ms", "reply_ms"])).toBe(
    Number(line?.["duration_ms"]),
  );
});

test("prints text for people, without escapes where nobody has a terminal", async () => {
  const id = await chat("no-such-model");
  const { stdout } = await home.svc(["logs", "--request", id]);
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z debug request rejected request_id=req_/);
  expect(stdout).toContain("code=model_not_allowed");
  expect(stdout).not.toContain("\x1b");
});

const saved = [
  '{"time":"2026-03-01T12:00:00.000Z","level":"warn","message":"request failed","request_id":"req_1","detail":"evil\\u001b[2J\\nline"}',
  'svc-1  | {"time":"2026-03-01T12:00:01.000Z","level":"info","message":"worker is back"}',
  "not \x1b[31mours\x07",
].join("\n");

test("makes a saved log readable, and what is in it harmless", async () => {
  const path = join(home.dataDir, "saved.log");
  writeFileSync(path, saved);
  const { stdout } = await home.svc(["logs", path]);
  expect(stdout.split("\n")).toEqual([
    "2026-03-01T12:00:00.000Z warn request failed request_id=req_1 detail=evil\\u{1b}[2J\\nline",
    "2026-03-01T12:00:01.000Z info worker is back",
    "not \\u{1b}[31mours\\u{7}",
    "",
  ]);
  expect((await home.svc("logs -", { stdin: saved })).stdout).toBe(stdout);
  expect(await logs("- --level warn", saved)).toMatchObject([{ request_id: "req_1" }]);
  expect(await logs("- --limit 1", saved)).toEqual([{ message: "not \x1b[31mours\x07" }] as never);
});

test("refuses what it cannot do, with what to do instead", async () => {
  for (const [line, code, text] of [
    ["--level loud", 2, "Must be one of: debug, info, warn, error"],
    ["--limit 0", 2, "whole number between 1 and 100000"],
    [
      "--since nonsense",
      2,
      'error: --since: Must be a duration such as 10m, 24h or 7d (at most 3650d), a day such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z, not "nonsense".\n',
    ],
    ["--since 99999d", 2, "at most 3650d"],
    ["--follow -", 2, "tail -F FILE | svc logs -"],
    [
      "no-such-file",
      3,
      `File ${join(process.cwd(), "no-such-file")} does not exist. Without a file, svc logs shows`,
    ],
  ] as const) {
    const { code: exit, stderr } = await home.svc(`logs ${line}`);
    expect([line, exit]).toEqual([line, code]);
    expect(stderr).toContain(text);
  }
  await using idle = createHome();
  await idle.svc("account create acme");
  expect(await idle.svc("logs")).toMatchObject(
    refusal(1, "No server is running on this data directory"),
  );
});
