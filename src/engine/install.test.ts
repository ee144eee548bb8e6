import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureEngineInstalled } from "./install.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-install-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the process that installs the engine's libraries sees no secret of the environment", async () => {
  const node = join(folder, "node");
  writeFileSync(node, "#!/bin/sh\n/usr/bin/env >&2\n");
  chmodSync(node, 0o755);
  const environment = {
    PATH: folder,
    HOME: folder,
    npm_config_registry: "http://registry.example/",
    SVC_SECRET: "master-secret",
    OPENAI_API_KEY: "vendor-key",
    DATABASE_URL: "postgres://user:pass@db/app",
  };
  const seen: string[] = [];
  await ensureEngineInstalled({ environment, cacheDir: folder, onLine: (line) => seen.push(line) });
  expect(seen).toContain(`HOME=${folder}`);
  expect(seen).toContain("npm_config_registry=http://registry.example/");
  for (const secret of ["master-secret", "vendor-key", "postgres:"])
    expect(seen.join("\n")).not.toContain(secret);
});
