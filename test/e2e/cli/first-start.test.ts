import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { controlPath } from "../../../src/platform/control-socket.ts";
import { chatStreams } from "../../fake/recordings.ts";
import { createHome } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { refusal } from "../../setup/outcomes.ts";
import { useHome } from "../../setup/use-home.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";

const upstream = await useFakeUpstream();
const home = useHome({ isBare: true });

const manifest = () => standardManifest.replaceAll("UPSTREAM", upstream.baseUrl);
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
async function takePort(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return { server, port: address.port };
}

describe("the first start", () => {
  test("prints a key once, and a command that works as it stands", async () => {
    upstream.replyWith(chatStreams.openai());
    home.writeConfig(manifest());
    const first = await home.serve({ FAKE_KEY: "x" });
    expect(first.stdout()).toContain("shown only once");
    expect(first.stdout()).toContain("balance   5.00 USD");
    const command = /[Cc]all the API\s+(curl .*)/.exec(first.stdout())?.[1] ?? "";
    const shell = Bun.spawn(["sh", "-c", command], { stderr: "ignore" });
    expect(await new Response(shell.stdout).text()).toEndWith("data: [DONE]\n\n");
    expect(await first.stop()).toBe(0);

    const second = await home.serve({ FAKE_KEY: "x" });
    expect(second.key).toBeUndefined();
    expect(second.stdout()).not.toContain("sk-svc-");
    expect(second.stdout()).not.toContain("balance");
    expect(await second.statusFor(first.key)).toBe(200);
    expect(await second.stop()).toBe(0);
  });

  test("without any model still prints a command that works", async () => {
    const server = await home.serve();
    const command = /[Cc]all the API\s+(curl .*)/.exec(server.stdout())?.[1] ?? "";
    const shell = Bun.spawn(["sh", "-c", command], { stderr: "ignore" });
    expect(JSON.parse(await new Response(shell.stdout).text())).toEqual({
      object: "list",
      data: [],
    });
  });

  test("makes no account and no key when told not to, or when somebody has", async () => {
    const silent = await home.serve({ SVC_FIRST_KEY: "off" });
    expect(silent.stdout()).not.toContain("sk-svc-");
    expect(await home.json<unknown>("account list")).toEqual([]);
    await home.svc("account create acme");
    await silent.stop();
    const next = await home.serve();
    expect(next.key).toBeUndefined();
    expect(await home.json<unknown>("key list")).toEqual([]);
  });

  test("keeps the data directory and the secret to their owner", async () => {
    await home.serve();
    expect(modeOf(home.dataDir)).toBe("700");
    expect(modeOf(join(home.dataDir, "secret"))).toBe("600");
    expect(modeOf(join(home.dataDir, "control.sock"))).toBe("600");
  });

  test("prints no escape codes into a pipe, and logs nothing of a success", async () => {
    const server = await home.serve({ TERM: "xterm-256color" });
    await server.statusFor(server.key);
    expect(server.stdout()).not.toContain("\u001b");
    expect(server.stderr()).toBe("");
  });
});

describe("a start that cannot be", () => {
  test("on a taken port names it, and a command with another; the folder stays free", async () => {
    for (const name of ["SVC_PORT", "SVC_PLATFORM_PORT"]) {
      const { server, port } = await takePort();
      const failed = await home.svc("serve", { environment: { [name]: String(port) } });
      server.close();
      expect(failed.code).toBe(5);
      expect(failed.stderr).toContain(`Port ${port} is already in use`);
      const proposed = new RegExp(`${name}=(\\d+) npm start`).exec(failed.stderr)?.[1];
      expect(Number(proposed)).not.toBe(port);
      expect(Number(proposed)).toBeLessThanOrEqual(65_535);
      expect(failed.stdout).not.toContain("sk-svc-");
      await home.ok("account list");
    }
  });

  test("on a port that another gateway serves is refused, and leaves the store as it was", async () => {
    const first = await home.serve();
    await using other = createHome();
    other.writeConfig(manifest());
    const { port } = new URL(first.origin);
    const second = await other.svc("serve", { environment: { SVC_PORT: port } });
    expect([second.code, second.stdout]).toEqual([5, ""]);
    expect(second.stderr).toContain(`Port ${port} is already in use`);
    const platformPort = new URL(first.platformUrl).port;
    const third = await other.svc("serve", {
      environment: { SVC_PLATFORM_PORT: platformPort },
    });
    expect(third.stderr).toContain(`Port ${platformPort} is already in use`);
    expect(await other.json<unknown[]>("model list")).toEqual([]);
    expect(await first.statusFor(first.key)).toBe(200);
  });

  test("in a folder that is in use says where the other runs, and leaves it alone", async () => {
    const first = await home.serve();
    expect(await home.svc("serve")).toMatchObject(
      refusal(5, `already running at ${first.origin} (process ${first.pid})`),
    );
    expect(await first.statusFor(first.key)).toBe(200);
    await home.ok("account list");
  });

  test("with another master secret is refused, for the server and for commands", async () => {
    const one = { SVC_SECRET: "1".repeat(32) };
    const other = { SVC_SECRET: "2".repeat(32) };
    await home.ok("account create acme", { environment: one });
    expect(existsSync(join(home.dataDir, "secret"))).toBe(false);
    for (const words of [["serve"], ["account", "list"]])
      for (const environment of [other, {}]) {
        const { code, stdout, stderr } = await home.svc(words, { environment });
        expect([words, code, stdout]).toEqual([words, 1, ""]);
        expect(stderr).toContain(
          environment === other
            ? "another master secret"
            : "master secret of this database is missing",
        );
        expect(existsSync(join(home.dataDir, "secret"))).toBe(false);
        expect(stderr).not.toContain(other.SVC_SECRET);
      }
    const server = await home.serve(one);
    expect(await server.stop()).toBe(0);
  });

  test("with unknown or wrong settings names all of them at once", async () => {
    home.writeConfig("settings: { log_levle: info, secret: x }\n");
    const { code, stdout, stderr } = await home.svc("serve", {
      environment: { SVC_PROT: "1", SVC_GRACE_S: "soon", SVC_SECRET: "short" },
    });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("SVC_PROT is not a setting. Did you mean SVC_PORT?");
    expect(stderr).toContain('SVC_GRACE_S must be a number of seconds above 0, not "soon"');
    expect(stderr).toContain("settings.log_levle is not a setting. Did you mean log_level?");
    expect(stderr).toContain("settings.secret can only be set in the environment");
    expect(stderr).toContain("SVC_SECRET must be at least 32 random characters");
    expect(stderr).not.toContain("short");
    expect(existsSync(home.dataDir)).toBe(false);
  });

  test("with a config file that is wrong or missing says so by its line or name", async () => {
    home.writeConfig("models:\n  m: { endpoint: telepathy }\n");
    expect(await home.svc("serve")).toMatchObject(refusal(2, "line 2: models.m.endpoint"));
    home.writeConfig("settings: *none\n");
    expect(await home.svc("serve")).toMatchObject(refusal(2, "line 1"));
    expect(
      await home.svc("serve", { environment: { SVC_CONFIG: "/none/svc.yaml" } }),
    ).toMatchObject(refusal(2, "/none/svc.yaml"));
  });
});

describe("settings", () => {
  test("come from the environment, then the file, then the defaults, and config tells which", async () => {
    home.writeConfig("settings: { grace_s: 7, idle_s: 8, cors_origins: [https://a.example] }\n");
    const { file, settings } = await home.json<{
      file: string;
      settings: readonly { name: string; value: string | null; source: string }[];
    }>("config", { environment: { SVC_IDLE_S: "9", SVC_SECRET: "s".repeat(40), SVC_HOST: "" } });
    const of = (wanted: string) => {
      const { value, source } = settings.find(({ name }) => name === wanted) ?? {};
      return [value, source];
    };
    expect(file).toBe(home.configPath);
    expect(of("SVC_GRACE_S")).toEqual(["7", "file"]);
    expect(of("SVC_IDLE_S")).toEqual(["9", "environment"]);
    expect(of("SVC_CORS_ORIGINS")).toEqual(["https://a.example", "file"]);
    expect(of("SVC_HOST")).toEqual(["127.0.0.1", "default"]);
    expect(of("SVC_SECRET")).toEqual(["(set)", "environment"]);
    expect(of("SVC_PUBLIC_URL")).toEqual(["http://127.0.0.1:0", "default"]);
    const { stdout } = await home.svc("config", { environment: { SVC_SECRET: "s".repeat(40) } });
    expect(stdout).not.toContain("ssss");
    expect(existsSync(home.dataDir)).toBe(false);
  });
});

describe("the config file", () => {
  test("is applied at a start only when it has changed since it last was", async () => {
    home.writeConfig(manifest());
    const environment = { FAKE_KEY: "x", SVC_FIRST_KEY: "off" };
    const first = await home.serve(environment);
    expect(first.stdout()).toContain("+ model svc-3-flash");
    await first.stop();

    // What commands have created or changed meanwhile stays.
    await home.svc("model edit svc-2-flash --max-output-tokens 77");
    await home.svc("model add mine");
    const second = await home.serve(environment);
    expect(second.stdout()).not.toContain("applied");
    await second.stop();

    home.writeConfig(`${manifest()}  extra: { endpoint: chat }\n`);
    const third = await home.serve(environment);
    expect(third.stdout()).toContain("+ model extra");
    const { stdout } = await home.svc("export");
    expect(stdout).toContain("max_output_tokens: 77");
    expect(stdout).toContain("  mine:\n");
    await third.stop();
  });
});

test("a data directory whose path is too long for a socket works all the same", async () => {
  await using deep = createHome({ folder: join("d".repeat(100), "e".repeat(100)) });
  expect(deep.dataDir.length).toBeGreaterThan(200);
  const server = await deep.serve();
  const { key } = await deep.json<{ key: string }>("key create --account default");
  expect(await server.statusFor(key)).toBe(200);
  const socket = controlPath(deep.dataDir);
  expect([existsSync(socket), socket.startsWith(deep.dataDir)]).toEqual([true, false]);
  expect(modeOf(dirname(socket))).toBe("700");
  expect(await server.stop()).toBe(0);
  expect(existsSync(dirname(socket))).toBe(false);
  await deep.ok("key list");
});

test("a data directory written with a trailing slash works, and is left as it was", async () => {
  const server = await home.serve({ SVC_DATA_DIR: `${home.dataDir}/` });
  expect((await home.svc("account list")).stdout).toContain("default");
  expect(await server.stop()).toBe(0);
  expect(existsSync(join(home.dataDir, "svc.db"))).toBe(true);
});
