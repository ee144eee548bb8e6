import { beforeEach, expect, test } from "bun:test";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { FakeUpstream } from "../../fake/upstream.ts";
import type { ChildServer, Home } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { sentKey, useKeyHome } from "./key-home.ts";

/** Keys of providers that an agent of a vault writes into a file. */
const keyHome = await useKeyHome();

let upstream: FakeUpstream;
let home: Home;
let file: string;
beforeEach(() => {
  ({ upstream, home } = keyHome());
  file = keyHome().path("vendor-key");
  writeFileSync(file, "key-one\n", { mode: 0o600 });
  home.writeConfig(
    standardManifest
      .replaceAll("UPSTREAM", upstream.baseUrl)
      .replaceAll("${FAKE_KEY}", `\${file:${file}}`),
  );
});

const chat = (server: ChildServer) => sentKey(server, upstream);

test("a key from a file is sent, and a replaced file without a restart", async () => {
  const server = await home.serve();
  expect(await chat(server)).toEqual({ status: 200, sent: "Bearer key-one" });
  const next = `${file}-next`;
  writeFileSync(next, "key-two\n", { mode: 0o600 });
  renameSync(next, file);
  await server.waitForLog("a file with a provider's key was replaced");
  expect(await chat(server)).toEqual({ status: 200, sent: "Bearer key-two" });
  // Commands show the reference, and never the value.
  for (const words of [["provider", "list", "--json"], ["export"]]) {
    const { stdout } = await home.svc(words);
    expect([words, stdout.includes(`file:${file}`)]).toEqual([words, true]);
    expect(stdout).not.toContain("key-two");
  }
  for (const text of [server.stdout(), server.stderr(), readFileSync(home.configPath, "utf8")])
    expect(text).not.toContain("key-two");
  expect(await server.stop()).toBe(0);
});

test("a file that is missing takes its provider out with one sentence, and comes back", async () => {
  rmSync(file);
  const server = await home.serve();
  await server.waitForLog(`${file} does not exist`);
  expect((await chat(server)).status).toBeGreaterThanOrEqual(500);
  writeFileSync(file, "key-three");
  await server.waitForLog("a file with a provider's key was replaced");
  expect(await chat(server)).toEqual({ status: 200, sent: "Bearer key-three" });
  expect(await server.stop()).toBe(0);
});
