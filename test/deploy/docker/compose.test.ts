import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { goTool } from "../tools.ts";
import { type Engine, root, startEngine } from "./engine.ts";

const plugin = "github.com/docker/compose/v2/cmd@v2.40.3";

let engine: Engine;
/** A copy of deploy/docker with secrets of its own. */
let folder: string;
/** The settings of the docker command: its plugins are here. */
let settings: string;
beforeAll(async () => {
  settings = mkdtempSync(join(tmpdir(), "svc-docker-settings-"));
  mkdirSync(join(settings, "cli-plugins"));
  symlinkSync(goTool(plugin, "docker-compose"), join(settings, "cli-plugins/docker-compose"));
  engine = await startEngine();
  folder = mkdtempSync(join(tmpdir(), "svc-compose-"));
  cpSync(join(root, "deploy/docker"), folder, { recursive: true });
  rmSync(join(folder, "secrets"), { recursive: true, force: true });
  await $`sh ${join(folder, "create-secrets.sh")}`.quiet();
});
afterAll(async () => {
  await compose("down", "--volumes");
  await engine.stop();
  rmSync(folder, { recursive: true });
  rmSync(settings, { recursive: true });
});

const compose = (...words: readonly string[]) =>
  engine.run(["compose", "--file", join(folder, "compose.yaml"), ...words], {
    GATEWAY_PORT: "0",
    CONSOLE_PORT: "0",
    DOCKER_CONFIG: settings,
  });

test("the file is valid for docker compose", async () => {
  expect(await compose("config", "--quiet")).toEqual({ code: 0, text: "" });
});

test("secrets are never replaced, and only the user of their container can read them", async () => {
  const again = await $`sh ${join(folder, "create-secrets.sh")}`.nothrow().quiet();
  expect(again.exitCode).toBe(1);
  expect(again.stderr.toString()).toContain("Keep it");
  const modes = await $`stat -c ${"%a %u %n"} database_url master_secret postgres_password`
    .cwd(join(folder, "secrets"))
    .text();
  expect(modes.trim().split("\n")).toEqual([
    "400 10001 database_url",
    "400 10001 master_secret",
    "400 999 postgres_password",
  ]);
});

test("gateway and PostgreSQL become healthy, a key works, and both stop with 0", async () => {
  writeFileSync(join(folder, "svc.env"), "OPENAI_API_KEY=sk-from-a-file\n");
  expect(await compose("up", "--detach", "--wait")).toMatchObject({ code: 0 });
  const { text: log } = await compose("logs", "gateway");
  const key = /sk-svc-\w+/.exec(log)?.[0] ?? "";
  const { text: address } = await compose("port", "gateway", "8080");
  expect(address).toStartWith("127.0.0.1:");
  const { status } = await fetch(`http://${address.trim()}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(status).toBe(200);
  const verified = await compose("exec", "-T", "gateway", "svc", "ledger", "verify");
  expect(verified).toMatchObject({ code: 0 });
  const { text: variables } = await compose("exec", "-T", "gateway", "env");
  expect(variables).toContain("OPENAI_API_KEY=sk-from-a-file");
  expect(variables).not.toContain("postgres://");
  expect((await compose("stop")).code).toBe(0);
  const { text: states } = await compose("ps", "--all", "--format={{.Service}} {{.ExitCode}}");
  expect(states.trim().split("\n").toSorted()).toEqual(["gateway 0", "postgres 0"]);
});
