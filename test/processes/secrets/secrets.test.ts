/** Secrets of gateways that share a database, and commands that are waited for by the clock. */

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { keyManifest, sentKey, useKeyHome } from "../../e2e/secrets/key-home.ts";
import { jsonReply } from "../../fake/http/reply.ts";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { createHome } from "../../setup/child.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { openDatabase } from "../../setup/postgres.ts";

const keyHome = await useKeyHome();

test("each worker runs the command once, for all providers that name it", async () => {
  const { upstream, path } = keyHome();
  await using database = await openDatabase();
  const { url } = database;
  await using shared = createHome({ isBare: true });
  const command = path("vault-key");
  const text = '#!/bin/sh\necho "$PPID" >>"$0.parents"; echo key-one\n';
  writeFileSync(command, text, { mode: 0o700 });
  const reference = `\${command:${command}}`;
  shared.writeConfig(keyManifest(upstream, { acme: reference, twin: reference }));
  const environment = { SVC_DATABASE_URL: url };
  await shared.json("apply", { environment });
  const flags = ["--workers", "2"];
  const server = await shared.serve(environment, { isProcess: true, flags });
  const parents = () => readFileSync(`${command}.parents`, "utf8").trim().split("\n");
  await waitUntil("a run of each worker", () => parents().length === 2);
  expect(new Set(parents()).size).toBe(2);
  expect(parents()).not.toContain(String(server.pid));
  expect((await sentKey(server, upstream, "twin")).sent).toBe("Bearer key-one");
  expect(await server.stop()).toBe(0);
  expect(parents().length).toBe(2);
});

test("a command that prints another key for each rejection does not end the pause of a target", async () => {
  const { home, upstream, path } = keyHome();
  const command = path("vault-key");
  const text = '#!/bin/sh\necho run >>"$0.runs"; wc -l <"$0.runs"\n';
  writeFileSync(command, text, { mode: 0o700 });
  const key = `\${command:${command}}`;
  home.writeConfig(
    keyManifest(upstream, { acme: key }) +
      "  other: { endpoint: chat, max_output_tokens: 100, price: { input: 1, output: 1 }, routes: [{ provider: acme, model: y }] }\n",
  );
  const server = await home.serve();
  const runs = () => readFileSync(`${command}.runs`, "utf8").split("run").length - 1;
  const limited = jsonReply({
    status: 429,
    headers: { "retry-after": "300" },
    body: { error: { message: "Slow down." } },
  });
  // The gateway's own tests of a target pass: it stays in service.
  const refused = jsonReply({ status: 403, body: { error: { message: "Not this input." } } });
  upstream.replyWith(({ body }) => {
    if (JSON.parse(body).model === "x") return limited;
    return body.includes("Hello") ? refused : chatJson();
  });
  expect((await sentKey(server, upstream, "other")).sent).toBe("Bearer 1");
  // The first other key is news, and clears what was known of the one before.
  await waitUntil("the second key", () => runs() === 2);
  await waitUntil(
    "its use",
    async () => (await sentKey(server, upstream, "other")).sent === "Bearer 2",
  );
  expect(await sentKey(server, upstream, "acme")).toEqual({ status: 429, sent: "Bearer 2" });
  await waitUntil(
    "the third key",
    async () => (await sentKey(server, upstream, "other")).sent === "Bearer 3",
  );
  expect(await sentKey(server, upstream, "acme")).toEqual({ status: 429, sent: null });
  expect(await server.stop()).toBe(0);
});

test("machines on PostgreSQL start with either secret until the rotation is finished", async () => {
  const { home, path } = keyHome();
  await using database = await openDatabase();
  const { url } = database;
  const machine = (secret: string) => ({ SVC_DATABASE_URL: url, SVC_SECRET: secret });
  const [one, two] = ["1".repeat(32), "2".repeat(32)];
  const first = await home.serve(machine(one));
  const { key } = first;
  expect(await first.statusFor(key)).toBe(200);
  const next = path("next");
  writeFileSync(next, two);
  const svc = (secret: string, ...words: string[]) =>
    home.svc(["secret", "rotate", ...words], { environment: machine(secret) });
  expect((await svc(one, "--secret-file", next)).code).toBe(0);
  // It runs on, and its nodes are known not to have the new secret.
  expect(await first.statusFor(key)).toBe(200);
  expect((await svc(two, "--finish")).stderr).toContain("have not been restarted");
  expect(await first.stop()).toBe(0);
  for (const secret of [one, two]) {
    const server = await home.serve(machine(secret));
    expect(await server.statusFor(key)).toBe(200);
    expect(await server.stop()).toBe(0);
  }
  expect((await svc(two, "--finish")).code).toBe(0);
  const last = await home.serve(machine(two));
  expect(await last.statusFor(key)).toBe(200);
  expect(await last.stop()).toBe(0);
  await expect(home.serve(machine(one))).rejects.toThrow("another master secret");
});
