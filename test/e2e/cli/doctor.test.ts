import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../../src/base/ids.ts";
import type { Check } from "../../../src/cli/doctor-wiring.ts";
import { jsonReply } from "../../fake/recordings.ts";
import { startFakeUpstream } from "../../fake/upstream.ts";
import type { Environment } from "../../setup/child.ts";
import { examineHome, wrong } from "../../setup/doctor.ts";
import { startMailServer } from "../../setup/mail-server.ts";
import { useHome } from "../../setup/use-home.ts";

const home = useHome({ isBare: true });

const examine = (environment: Environment = {}, ...flags: readonly string[]) =>
  examineHome(home, environment, flags);

describe("svc doctor", () => {
  test("finds nothing wrong before the first start, and creates nothing", async () => {
    const checks = await examine();
    expect(checks.filter(({ state }) => state === "problem")).toEqual([]);
    expect(existsSync(home.dataDir)).toBe(false);
  });

  test("sees a running server, its database and its secret", async () => {
    const server = await home.serve();
    const { port } = new URL(server.origin);
    const platformPort = new URL(server.platformUrl).port;
    const environment = { SVC_PORT: port, SVC_PLATFORM_PORT: platformPort };
    const checks = await examine(environment, "--deep");
    expect(checks.filter(({ state }) => state === "problem")).toEqual([]);
    const found = checks.map(({ finding }) => finding).join("\n");
    for (const part of [
      `The gateway responds at 127.0.0.1:${port}`,
      `The platform responds at 127.0.0.1:${platformPort}`,
      "is the one of the database",
      "Its ledger adds up (0 receipts)",
      "Its pages are intact",
    ])
      expect(found).toContain(part);
  });

  test("names a port that another program uses, with its setting", async () => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const checks = await examine({ SVC_PLATFORM_PORT: String(other.port) });
    other.stop(true);
    const [found] = checks.filter(({ state }) => state === "problem");
    expect(found?.finding).toBe(`Port ${other.port} of the platform is in use by another program.`);
    expect(found?.advice).toContain("SVC_PLATFORM_PORT");
  });

  test("signs in to the mail server without sending mail, and names what is wrong with it", async () => {
    const server = await startMailServer();
    try {
      const environment = { SVC_MAIL_FROM: "no-reply@example.com" };
      const place = `127.0.0.1:${server.port}`;
      const right = await examine({ ...environment, SVC_SMTP_URL: `smtp://${place}` });
      expect(right.find(({ group }) => group === "mail")).toMatchObject({
        state: "ok",
        finding: `The mail server ${place} accepts this server (no mail was sent)`,
      });
      expect(server.received).toEqual([]);
      const secret = `smtps://svc:hunter2@${place}`;
      const failing = await examine({ ...environment, SVC_SMTP_URL: secret });
      expect(wrong(failing, "mail")).toEqual([expect.stringContaining(`problem: ${place}: The`)]);
      expect(JSON.stringify(failing)).not.toContain("hunter2");
    } finally {
      server.stop();
    }
    const alone = await examine({ SVC_SMTP_URL: "smtp://127.0.0.1" });
    expect(wrong(alone, "configuration")[0]).toContain("SVC_MAIL_FROM must be set together");
  });

  test("reports every wrong setting, and still examines the machine", async () => {
    const checks = await examine({ SVC_PORT: "many", SVC_RETRIES: "99" });
    expect(wrong(checks, "configuration")[0]).toContain("SVC_PORT must be a port number");
    expect(wrong(checks, "configuration")[0]).toContain("SVC_RETRIES must be");
    expect(checks.some(({ group, state }) => group === "machine" && state === "ok")).toBe(true);
  });

  test("reports a secret that is missing, and one of another database", async () => {
    await home.json("account create acme");
    const other = await examine({ SVC_SECRET: "another secret of enough characters" });
    expect(other.filter(({ state }) => state === "problem")).toHaveLength(1);
    expect(wrong(other, "secret")).toEqual([
      "problem: The master secret (SVC_SECRET) is not the one of this database.",
    ]);
    rmSync(join(home.dataDir, "secret"));
    expect(wrong(await examine(), "secret")).toEqual([
      "problem: The master secret of this database is missing.",
    ]);
  });

  test("reports a damaged database, and does not take it for one that is still to be created", async () => {
    await home.json("account create acme");
    const path = join(home.dataDir, "svc.db");
    const damaged = readFileSync(path).fill(0x2a, 0, 4_096);
    writeFileSync(path, damaged);
    const checks = await examine();
    expect(readFileSync(path).equals(damaged)).toBe(true);
    expect(wrong(checks, "database")).toEqual([
      `problem: The database ${path} is damaged (SQLITE_NOTADB). Restore a backup (docs/deploy/backup.md).`,
    ]);
    expect(checks.filter(({ group }) => group === "secret")).toEqual([
      {
        group: "secret",
        state: "skipped",
        finding: "Not checked, because the database cannot be read",
      },
    ]);
  });

  test("checks the secret of a database that a newer version has written", async () => {
    await home.json("account create acme");
    const raw = new Database(join(home.dataDir, "svc.db"));
    raw.run("insert into kysely_migration (name, timestamp) values ('9999-newer', '')");
    raw.close();
    const checks = await examine();
    expect(wrong(checks, "database")).toHaveLength(1);
    expect(checks.find(({ group }) => group === "secret")?.finding).toContain(
      "is the one of the database",
    );
  });

  test("reports a database that is missing where there was one", async () => {
    await home.json("account create acme");
    rmSync(join(home.dataDir, "svc.db"));
    expect(wrong(await examine(), "database")[0]).toContain("is missing, although");
  });

  test("reports a directory and files that other users may read", async () => {
    await home.json("account create acme");
    chmodSync(home.dataDir, 0o755);
    chmodSync(join(home.dataDir, "secret"), 0o644);
    expect(wrong(await examine(), "files")).toEqual([
      `warning: Other users of this machine can enter the data directory ${home.dataDir}.`,
      `warning: Other users of this machine may read ${join(home.dataDir, "secret")}.`,
    ]);
  });

  test("reports a directory that every user can write to, which prevents a start", async () => {
    await home.json("account create acme");
    chmodSync(home.dataDir, 0o777);
    expect(wrong(await examine(), "files")[0]).toStartWith(
      `problem: Every user of this machine can write to the data directory ${home.dataDir}`,
    );
    chmodSync(home.dataDir, 0o700);
  });

  test("reports a clock that was set back behind the newest receipt", async () => {
    await home.json("account create acme");
    const id = newId("req", Date.now() + 3_600_000);
    writeFileSync(join(home.dataDir, "svc.db-mark"), `${`svc mark 1 ${id} 1`.padEnd(95)}\n`);
    expect(wrong(await examine(), "clock")[0]).toContain("the clock was set back");
  });

  test("warns of keys that cross a network in the clear", async () => {
    const checks = await examine({ SVC_HOST: "0.0.0.0", SVC_PUBLIC_URL: "http://models.example" });
    expect(wrong(checks, "listeners")).toEqual([
      "warning: The gateway listens on 0.0.0.0 without TLS, so keys and passwords cross the network in the clear.",
      "warning: SVC_PUBLIC_URL is an http address: http://models.example.",
    ]);
  });

  test("tries each provider without a paid call, and says what to do", async () => {
    const upstream = await startFakeUpstream();
    upstream.replyWith(() =>
      jsonReply({ status: 401, body: { error: { message: "no", code: "invalid_api_key" } } }),
    );
    home.writeConfig(
      `providers:\n  mine: { kind: openai, base_url: "${upstream.baseUrl}", api_key: sk-x-0123456789, allow_private: true }\n`,
    );
    const applied = await home.svc("apply");
    expect(applied.stderr).toBe("");
    const checks = await examine();
    const [found] = checks.filter(({ group }) => group === "providers");
    expect(found?.state).toBe("problem");
    expect(found?.finding).toContain("mine");
    expect(found?.advice).not.toBe("");
    expect(JSON.stringify(checks)).not.toContain("sk-x-0123456789");
    const paths = upstream.requests.map(({ path }) => path);
    await upstream.stop();
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.every((path) => path.endsWith("/models"))).toBe(true);
  });
});

test("names a server that does not respond, without the password", async () => {
  const checks = await examine({ SVC_DATABASE_URL: "postgres://ann:pass-word@127.0.0.1:1/app" });
  expect(wrong(checks, "database")[0]).toContain("No database server answers");
  expect(JSON.stringify(checks)).not.toContain("pass-word");
});

describe("svc doctor and a provider without a list of models", () => {
  const findings = (checks: readonly Check[]) =>
    checks
      .filter(({ group }) => group === "providers")
      .map(({ state, finding, advice }) => ({ state, finding, advice }));
  const provider = (baseUrl: string) =>
    `providers:\n  mine: { kind: openai, base_url: "${baseUrl}", allow_private: true }\n`;

  test("is not at fault where models are routed to it; without any, its address may be wrong", async () => {
    const upstream = await startFakeUpstream();
    upstream.replyWith(() => jsonReply({ status: 404, body: { error: { message: "Not Found" } } }));
    try {
      home.writeConfig(provider(upstream.baseUrl));
      expect((await home.svc("apply")).stderr).toBe("");
      expect(findings(await examine())).toEqual([
        {
          state: "warning",
          finding: "mine answers, but not with a list of models, and no model is routed to it.",
          advice:
            "Check its base_url. If the server has no list, add its models by name: svc model add --help",
        },
      ]);
      const models = `models:\n  chat: { endpoint: chat, price: { input: "1", output: "1" }, routes: [{ provider: mine, model: m }] }\n`;
      home.writeConfig(provider(upstream.baseUrl) + models);
      expect((await home.svc("apply")).stderr).toBe("");
      expect(findings(await examine())).toEqual([
        {
          state: "skipped",
          finding: "mine answers, but has no list of models, so its key was not checked",
          advice: "svc provider test mine makes one real call.",
        },
      ]);
      upstream.replyWith(() => jsonReply({ body: { object: "list", data: [] } }));
      expect(findings(await examine())[0]).toMatchObject({
        state: "skipped",
        finding: "mine lists no models, so its key was not checked",
      });
    } finally {
      await upstream.stop();
    }
    expect(findings(await examine())[0]).toMatchObject({ state: "problem" });
  });
});
