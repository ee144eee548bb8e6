/** `svc logs --follow` and `svc requests --follow`: until they are interrupted. */

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallView } from "../../../src/platform/calls/views.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { linesIn, useRichAndPoor } from "../../setup/rich-and-poor.ts";

const main = join(import.meta.dir, "../../../src/main.ts");

const { home, chat } = await useRichAndPoor({ SVC_LOG_LEVEL: "debug" });

const follow = (...words: readonly string[]) =>
  Bun.spawn([process.execPath, main, ...words, "--follow", "--json"], {
    env: { PATH: process.env["PATH"] ?? "", SVC_DATA_DIR: home.dataDir },
    stdout: "pipe",
    stderr: "pipe",
  });

test("svc logs follows new lines until it is interrupted", async () => {
  await chat("rich", { model: "before" });
  const child = follow("logs", "--limit", "1");
  let text = "";
  let followed: string | undefined;
  for await (const bytes of child.stdout) {
    text += new TextDecoder().decode(bytes);
    // The first output is a line from before.
    followed ??= await chat("rich", { model: "no-such-model" });
    const whole = text.slice(0, text.lastIndexOf("\n"));
    if (linesIn<{ request_id?: string }>(whole).some((line) => line.request_id === followed))
      child.kill("SIGINT");
  }
  expect(await child.exited).toBe(130);
});

test("svc requests follows calls as they end, until it is interrupted", async () => {
  const child = follow("requests");
  let text = "";
  const reading = (async () => {
    for await (const bytes of child.stdout) text += new TextDecoder().decode(bytes);
  })();
  const seen = () => linesIn<CallView>(text);
  // Nothing tells that it has begun but that it shows what comes.
  await waitUntil("the first line", async () => {
    await chat("rich", { model: "begin" });
    return seen().length > 0;
  });
  await chat("rich");
  for (let at = 0; at < 30; at++) await chat("poor", { max_tokens: 7 });
  const count = (outcome: string) =>
    seen()
      .filter((call) => call.outcome === outcome)
      .reduce((sum, call) => sum + call.count, 0);
  await waitUntil("all calls", () => count("ok") === 1 && count("insufficient_quota") >= 20);
  expect(seen().filter(({ key_name }) => key_name === null)).toEqual([]);
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  await reading;
});

test("svc logs reads its standard input where that is a file, also without a server", async () => {
  const path = join(home.dataDir, "saved.log");
  writeFileSync(path, "not ours\n");
  const child = Bun.spawn([process.execPath, main, "logs"], {
    env: { PATH: process.env["PATH"] ?? "", SVC_DATA_DIR: join(home.dataDir, "none") },
    stdin: Bun.file(path),
    stdout: "pipe",
  });
  expect(await new Response(child.stdout).text()).toBe("not ours\n");
});
