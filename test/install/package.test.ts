/** The package that `npm pack` makes, in an empty folder. The tests build on each other. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { CHAT_USAGE } from "../fake/openai/chat-json.ts";
import { chatAnswers, chatStreams, jsonReply } from "../fake/recordings.ts";
import { type FakeUpstream, startFakeUpstream } from "../fake/upstream.ts";
import { createDatabase, dropDatabase } from "../setup/postgres.ts";
import {
  emptyFolder,
  type InstalledPackage,
  installPackage,
  packTo,
  run,
  type ServingPackage,
} from "./installed-package.ts";

const root = join(import.meta.dir, "..", "..");
const tarballs = mkdtempSync(join(tmpdir(), "svc-tarball-"));
let tarball: string;
let upstream: FakeUpstream;
let installed: InstalledPackage;
let server: ServingPackage;
let filesBefore: readonly string[];

const manifest = (baseUrl: string) => `
providers:
  fake: { kind: openai, base_url: "${baseUrl}", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  chat: { endpoint: chat, price: { input: "0.30", output: "2.50" }, routes: [{ provider: fake, model: upstream-chat }] }
  text: { endpoint: embeddings, input: text, price: { input: 0 }, routes: [{ provider: engine, model: text }] }
engine: {}
`;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  upstream.replyWith(({ path, body }) => {
    if (path.endsWith("/models")) return jsonReply({ body: { object: "list", data: [] } });
    return body.includes('"stream":true') ? chatStreams.openai() : chatAnswers.plain();
  });
  tarball = await packTo(tarballs);
  installed = await installPackage(tarball, {
    manifest: manifest(upstream.baseUrl),
    environment: { FAKE_KEY: "x" },
  });
  filesBefore = installed.files();
  server = await installed.serve(["npx", "--no", "svc-gateway"]);
}, 600_000);
afterAll(async () => {
  await server?.stop();
  await upstream.stop();
  for (const folder of [tarballs, installed?.folder ?? tarballs])
    rmSync(folder, { recursive: true, force: true });
});

const inFolder = (...path: string[]) => join(installed.folder, ...path);

test("npx svc-gateway serves, with its data in the current folder", async () => {
  const ready = await fetch(new URL("/readyz", server.baseUrl));
  expect(ready.status).toBe(200);
  expect(existsSync(inFolder(".svc", "svc.db"))).toBe(true);
  const chat = await installed.npx("svc", "chat", "--model", "chat", "Hello");
  expect([chat.code, chat.out.trim()]).toEqual([0, "Hello! How can I help?"]);
  const receipts = await installed.svc("receipt", "list", "--json");
  expect(JSON.parse(receipts.out)).toMatchObject([{ model: "chat", outcome: "ok" }]);
});

test("the command has its version, passes words on, and works beside the server", async () => {
  const versions = await Promise.all([
    installed.npx("svc", "--version"),
    installed.npx("svc-gateway", "--version"),
  ]);
  for (const { code, out } of versions)
    expect([code, out]).toEqual([0, `${packageJson.version}\n`]);
  const doctor = await installed.svc("doctor", "--json");
  expect(JSON.parse(doctor.out)).toMatchObject({ ok: true, problems: 0 });
  // In a thread of its own, from a file of the package.
  const backup = await installed.svc("backup", "all.svcbackup", "--json");
  expect([backup.code, existsSync(inFolder("all.svcbackup"))]).toEqual([0, true]);
  const unknown = await installed.npx("svc", "account", "show", "nobody");
  expect(unknown.err).toContain("Try: npx svc account list");
  const preset = await installed.svc("init", "--preset", "google", "--print");
  expect(preset.out).toContain("GEMINI_API_KEY");
});

test("every dialect, the token counter and the API's own pages are there", async () => {
  const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
  const counted = await fetch(`${server.baseUrl}/messages/count_tokens`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hello there" }] }),
  });
  expect([counted.status, Object.keys((await counted.json()) as object)]).toEqual([
    200,
    ["input_tokens"],
  ]);
  for (const path of ["/openapi.json", "/api/openapi.json", "/api/changes", "/metrics"])
    expect([path, (await fetch(server.platformUrl + path)).status]).toEqual([path, 200]);
});

test("the console is built: every file of it is served, and so is all that its first page names", async () => {
  const dist = join(installed.place, "console", "dist");
  const builds = readdirSync(dist).filter((name) => name !== "current");
  expect(builds).toEqual([readFileSync(join(dist, "current"), "utf8")]);
  for (const name of readdirSync(join(dist, builds[0] ?? "", "assets")))
    if (!/\.(br|gz)$/.test(name))
      expect((await fetch(`${server.platformUrl}/assets/${name}`)).status).toBe(200);
  const page = await (await fetch(server.operatorLink)).text();
  const named = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
  expect(named.map((path) => path.split(".").at(-1))).toEqual(
    expect.arrayContaining(["js", "css"]),
  );
  for (const path of named)
    expect([path, (await fetch(server.platformUrl + path)).status]).toEqual([path, 200]);
});

test("the engine runs from the cache directory, with its own libraries, and serves a model", async () => {
  const pulled = await installed.svc("engine", "pull", "text", "--json");
  expect(pulled.code).toBe(0);
  const [libraries = ""] = readdirSync(inFolder("cache", "engine"));
  expect(libraries).toMatch(/^[0-9a-f]{16}$/);
  const inside = readdirSync(inFolder("cache", "engine", libraries));
  expect(inside).toEqual(
    expect.arrayContaining(["node_modules", "package-lock.json", "package.json"]),
  );
  expect(inside).not.toContain(".npmrc");
  // A project may have another version of a library: the engine must not find it.
  const trap = inFolder("node_modules", "onnxruntime-node");
  emptyFolder(trap);
  writeFileSync(join(trap, "package.json"), '{"name":"onnxruntime-node","main":"trap.js"}');
  writeFileSync(join(trap, "trap.js"), "process.exit(77)");
  const embedded = await installed.svc("embed", "--model", "text", "A cat.", "A cat.");
  expect([embedded.code, embedded.err]).toEqual([0, expect.any(String)]);
}, 600_000);

test("nothing was written into the package", async () => {
  expect(installed.files()).toEqual(filesBefore);
});

test("SIGTERM stops the server", async () => {
  expect(await server.stop()).toBe(0);
});

test("workers start on PostgreSQL, from the package", async () => {
  const url = await createDatabase();
  const environment = { SVC_DATABASE_URL: url };
  const svc = inFolder("node_modules", ".bin", "svc");
  const workers = await installed.serve([svc, "serve", "--workers", "2"], environment);
  try {
    // With PostgreSQL, a start does not apply the file.
    const apply = await run([svc, "apply"], installed.folder, { ...environment, FAKE_KEY: "x" });
    expect([apply.code, apply.err]).toEqual([0, ""]);
    const reply = await fetch(`${workers.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${workers.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(await reply.json()).toMatchObject({ usage: { total_tokens: CHAT_USAGE.total_tokens } });
  } finally {
    await workers.stop();
    await dropDatabase(url);
  }
});

test("the lock file in the package installs the versions that the tests ran with", async () => {
  const folder = emptyFolder(tarballs, "unpacked");
  await run(["tar", "-xzf", tarball, "--strip-components=1"], folder);
  await run(["npm", "pkg", "delete", "devDependencies"], folder);
  renameSync(join(folder, "locked.json"), join(folder, "npm-shrinkwrap.json"));
  // It ends with an error where the lock file is not the package's.
  const { code, err } = await run(["npm", "ci", "--dry-run", "--no-audit", "--no-fund"], folder);
  expect([code, err]).toEqual([0, expect.any(String)]);
  const read = (path: string) =>
    JSON.parse(readFileSync(path, "utf8")).packages as Record<string, { version: string }>;
  const locked = read(join(root, "package-lock.json"));
  const packed = Object.entries(read(join(folder, "npm-shrinkwrap.json")));
  expect(packed.length).toBeGreaterThan(40);
  for (const [path, { version }] of packed)
    expect([path, version]).toEqual([path, locked[path]?.version ?? ""]);
}, 600_000);
