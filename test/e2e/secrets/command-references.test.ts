import { beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connectControl } from "../../../src/platform/control-socket.ts";
import { jsonReply } from "../../fake/http/reply.ts";
import { chatJson } from "../../fake/openai/chat-json.ts";
import type { FakeUpstream } from "../../fake/upstream.ts";
import type { Home } from "../../setup/child.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { join as joinPlatform } from "../../setup/platform-home.ts";
import { type KeyHome, keyManifest, sentKey, useKeyHome } from "./key-home.ts";

/** Keys of providers that a command prints. */
const keyHome = await useKeyHome();

let upstream: FakeUpstream;
let home: Home;
let path: KeyHome["path"];
beforeEach(() => {
  ({ upstream, home, path } = keyHome());
});

/** Replaced in one step, as an installer does it. */
function script(name: string, body: string): string {
  writeFileSync(`${path(name)}-next`, `#!/bin/sh\n${body}\n`, { mode: 0o700 });
  renameSync(`${path(name)}-next`, path(name));
  return path(name);
}

const manifest = (keys: Readonly<Record<string, string>>) => keyManifest(upstream, keys);

const refusedKey = jsonReply({
  status: 401,
  body: { error: { message: "Incorrect API key provided.", code: "invalid_api_key" } },
});

const often = { SVC_KEY_COMMAND_S: "0.1" };

test("a printed key is sent, a new one replaces it, and a failing run keeps the last one", async () => {
  const command = script("vault-key", 'echo "run $*" >>"$0.runs"; echo "key-one-$1"');
  home.writeConfig(
    manifest({
      acme: `\${command:${command} hidden-word}`,
      twin: `\${command:${command} hidden-word}`,
    }),
  );
  const server = await home.serve(often);
  const chat = () => sentKey(server, upstream, "acme");
  expect(await chat()).toEqual({ status: 200, sent: "Bearer key-one-hidden-word" });
  // Two providers name it: it is run once.
  expect(readFileSync(`${command}.runs`, "utf8").split("\n")[0]).toBe("run hidden-word");

  script("vault-key", "echo noise-of-stderr >&2; exit 7");
  await server.waitForLog(
    `provider acme, twin: ${command} ended with exit code 7; the last key that it printed stays in use`,
  );
  expect(await chat()).toEqual({ status: 200, sent: "Bearer key-one-hidden-word" });
  expect((await sentKey(server, upstream, "twin")).sent).toBe("Bearer key-one-hidden-word");

  script("vault-key", "printf '\\n  key-two \\n'");
  await server.waitForLog(`provider acme, twin: ${command} works again`);
  expect(await chat()).toEqual({ status: 200, sent: "Bearer key-two" });

  for (const words of [["provider", "list", "--json"], ["export"]]) {
    const { stdout } = await home.svc(words);
    expect([words, stdout.includes(`command:${command} hidden-word`)]).toEqual([words, true]);
    expect(stdout).not.toMatch(/key-(one|two)/);
  }
  const log = server.stdout() + server.stderr();
  expect(log).not.toMatch(/key-(one|two)|noise-of-stderr|hidden-word/);
  expect(log.split("ended with exit code 7").length).toBe(2);
  expect(log.split("works again").length).toBe(2);
  expect(await server.stop()).toBe(0);
});

test("a key that the vendor rejects is printed again at once, and the next call uses the new one", async () => {
  const command = script("vault-key", 'echo run >>"$0.runs"; echo key-one');
  home.writeConfig(manifest({ acme: `\${command:${command}}` }));
  const server = await home.serve();
  const chat = () => sentKey(server, upstream, "acme");
  expect(await chat()).toEqual({ status: 200, sent: "Bearer key-one" });
  script("vault-key", "echo key-two");
  upstream.replyWith(({ headers }) =>
    headers["authorization"] === "Bearer key-two" ? chatJson() : refusedKey,
  );
  expect(await chat()).toEqual({ status: 502, sent: "Bearer key-one" });
  const printed = () => server.stderr().split(`provider acme: ${command} printed a new key`).length;
  // The start has logged the first one.
  await waitUntil("the second key", () => printed() === 3);
  expect((await chat()).status).toBe(200);
  expect(readFileSync(`${command}.runs`, "utf8")).toBe("run\n");
  expect(await server.stop()).toBe(0);
});

test("commands that fail take only their own keys out of service, and come back", async () => {
  const bad = {
    failing: [script("failing", "echo key; exit 4"), "ended with exit code 4"],
    missing: [path("missing"), "does not exist, or the interpreter in its first line does not"],
  } as const;
  const good = script("good", "echo key-good");
  const keys = Object.entries(bad).map(([name, [command]]) => [name, `\${command:${command} w}`]);
  home.writeConfig(manifest({ ...Object.fromEntries(keys), good: `\${command:${good}}` }));
  const server = await home.serve(often);
  for (const [name, [command, problem]] of Object.entries(bad)) {
    await server.waitForLog(`provider ${name}: ${command} ${problem}`);
    expect((await sentKey(server, upstream, name)).status).toBeGreaterThanOrEqual(500);
  }
  expect((await sentKey(server, upstream, "good")).sent).toBe("Bearer key-good");

  script("missing", "echo key-found");
  await server.waitForLog(`provider missing: ${path("missing")} printed a new key`);
  expect((await sentKey(server, upstream, "missing")).sent).toBe("Bearer key-found");
  expect(await server.stop()).toBe(0);
});

test("svc doctor shows why a file or a command gives no key, with and without a server", async () => {
  const command = script("failing", "exit 4");
  const keys = { failing: `\${command:${command}}`, lost: `\${file:${path("lost")}}` };
  home.writeConfig(manifest(keys));
  const server = await home.serve();
  const examine = async () => {
    const { stdout } = await home.svc("doctor");
    expect(stdout).toContain(`${command} ended with exit code 4.`);
    expect(stdout).toContain(`${path("lost")} does not exist.`);
  };
  await examine();
  expect(await server.stop()).toBe(0);
  await examine();
});

test("hostile words are arguments, and the environment has none of our secrets", async () => {
  const touched = path("touched");
  const args = script("args", 'printf "%s+" "$@"');
  const environment = script("environment", 'env >"$0.seen"; echo key');
  home.writeConfig(
    manifest({
      words: `\${command:${args} ; touch ${touched} && #}`,
      environment: `\${command:${environment}}`,
    }),
  );
  const secret = "0123456789abcdef".repeat(4);
  const server = await home.serve({ SVC_SECRET: secret, ACME_KEY: "of-another-provider" });
  expect(await sentKey(server, upstream, "words")).toEqual({
    status: 200,
    sent: `Bearer ;+touch+${touched}+&&+#+`,
  });
  expect(existsSync(touched)).toBe(false);
  const seen = readFileSync(`${environment}.seen`, "utf8");
  expect(seen).toContain("PATH=");
  expect(seen).toContain("HOME=");
  for (const hidden of ["SVC_", "ACME_KEY", secret]) expect(seen).not.toContain(hidden);
  expect(await server.stop()).toBe(0);
});

test.each(["'a b'", '"a"', "$HOME", "| cat", ">/tmp/x", "`id`", "a\\ b"])(
  "svc apply refuses what only a shell understands: %s",
  async (words) => {
    const text = manifest({ acme: "KEY" }).replace(
      "'KEY'",
      JSON.stringify(`\${command:/bin/echo ${words}}`),
    );
    home.writeConfig(text);
    const { code, stderr } = await home.svc("apply");
    expect(code).not.toBe(0);
    expect(stderr).toContain("no shell runs it");
  },
);

test.each([
  ["command", (touched: string) => `\${command:/usr/bin/touch ${touched}}`],
  ["file", () => "${file:/etc/passwd}"],
])("only svc.yaml names a %s: operations and an operator's session are refused", async (_, of) => {
  const command = script("vault-key", "echo key-one");
  home.writeConfig(manifest({ acme: `\${command:${command}}` }));
  const server = await home.serve();
  const touched = path("touched");
  const stolen = of(touched);
  const refusal = "Only svc.yaml can refer to a file or a command";
  const evil = {
    name: "evil",
    kind: "openai",
    base_url: upstream.baseUrl,
    allow_private: true,
    api_key: stolen,
    save_anyway: true,
  };
  const bedrock = { region: "us-east-1", secret_access_key: stolen };

  const control = await connectControl(home.dataDir);
  if (control === undefined) throw new Error("the server runs");
  const { providers } = control.operations;
  await expect(providers.add(evil as never)).rejects.toThrow(refusal);
  await expect(
    providers.add({ name: "evil", kind: "bedrock", options: bedrock } as never),
  ).rejects.toThrow(refusal);
  await expect(providers.addKey({ ...evil, provider: "acme" } as never)).rejects.toThrow(refusal);

  const { platformUrl, operatorLink = "" } = server;
  const operator = await joinPlatform(platformUrl, operatorLink, { email: "op@example.com" });
  const params = { name: "acme" };
  const attempts = [
    operator.ask("POST /api/providers", { body: evil }),
    operator.ask("POST /api/providers", {
      body: { name: "evil", kind: "bedrock", options: bedrock },
    }),
    operator.ask("PATCH /api/providers/:name", { params, body: { api_key: stolen } }),
    operator.ask("POST /api/providers/:name/keys", {
      params,
      body: { name: "evil", api_key: stolen },
    }),
  ];
  for (const { status, body } of await Promise.all(attempts))
    expect([status, JSON.stringify(body).includes("svc.yaml")]).toEqual([400, true]);
  expect(existsSync(touched)).toBe(false);

  // One that svc apply has put into the store keeps its address: else its key could be sent off.
  const loose = `{ kind: openai, base_url: "http://127.0.0.1:9/v1", api_key: "\${command:${command}}", allow_private: true }`;
  await control.operations.manifest.apply({
    text: `providers:\n  loose: ${loose}\n`,
    dryRun: false,
  });
  const moved = await operator.ask("PATCH /api/providers/:name", {
    params: { name: "loose" },
    body: { base_url: upstream.baseUrl, save_anyway: true },
  });
  expect([moved.status, JSON.stringify(moved.body)]).toEqual([
    400,
    expect.stringContaining("A stored key is not sent to another address"),
  ]);
  rmSync(command);
  expect(await server.stop()).toBe(0);
});
