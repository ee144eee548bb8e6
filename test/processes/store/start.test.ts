import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { newId } from "../../../src/base/ids.ts";
import { toUsd } from "../../../src/base/money.ts";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { standardManifest } from "../../setup/harness.ts";
import { useHome } from "../../setup/use-home.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";
import { openPayer, payForCall } from "./payer.ts";

/** What a start finds in the data directory, and what it makes of it. */

const upstream = await useFakeUpstream(chatJson());
const home = useHome({ isBare: true });
let database: string;

beforeEach(() => {
  database = join(home.dataDir, "svc.db");
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
});

const serve = () => home.serve({ FAKE_KEY: "x" });
const serveApart = () => home.serve({ FAKE_KEY: "x" }, { isProcess: true });

const openAccount = () => openPayer(home.dataDir, "1");

/** One line for a person, a hint at most, and no stack. */
async function refusal(words: readonly string[] = ["serve"]): Promise<string> {
  const { code, stderr } = await home.svc(words, { environment: { FAKE_KEY: "x" } });
  expect({
    code,
    isStack: /\n\s+at /.test(stderr),
    lines: stderr
      .replace(/\nTry: svc [^\n]+\n$/, "")
      .trim()
      .split("\n").length,
  }).toEqual({ code: 1, isStack: false, lines: 1 });
  return stderr;
}

describe("a database that is missing", () => {
  test("beside its secret is not replaced by an empty one", async () => {
    await (await serve()).stop();
    renameSync(database, `${database}.away`);
    const text = await refusal();
    expect(text).toContain(`The database ${database} is missing`);
    expect(text).toContain(join(home.dataDir, "secret"));
    expect(existsSync(database)).toBe(false);
    await refusal(["account", "create", "x"]);
    expect(existsSync(database)).toBe(false);
    renameSync(`${database}.away`, database);
    expect(await (await serve()).stop()).toBe(0);
  });

  test("beside its write-ahead log leaves the log as it is", async () => {
    const server = await serve();
    await payForCall(server, await openAccount());
    const log = readFileSync(`${database}-wal`);
    await server.stop();
    renameSync(database, `${database}.away`);
    rmSync(join(home.dataDir, "secret"));
    // As a crash would have left it.
    writeFileSync(`${database}-wal`, log);
    expect(log.length).toBeGreaterThan(0);
    expect(await refusal()).toContain(`${database}-wal`);
    expect(readFileSync(`${database}-wal`).equals(log)).toBe(true);
  });

  test("may begin anew once what was left of it is moved away", async () => {
    await (await serve()).stop();
    for (const name of ["svc.db", "svc.db-mark", "secret"])
      renameSync(join(home.dataDir, name), join(home.dataDir, `${name}.away`));
    expect(await (await serve()).stop()).toBe(0);
  });

  test("and that never was one, because the first start was killed, holds up nobody", async () => {
    mkdirSync(home.dataDir);
    // Killed before it had a secret, and before that was noted in the database.
    writeFileSync(database, "");
    await (await serve()).stop();
    rmSync(database);
    rmSync(`${database}-mark`, { force: true });
    writeFileSync(database, "");
    expect(await (await serve()).stop()).toBe(0);
  });

  test("and was replaced by an empty file is noticed by what the disk had confirmed", async () => {
    const server = await serve();
    await payForCall(server, await openAccount());
    await server.stop();
    writeFileSync(database, "");
    // Not even the second time.
    expect(await refusal()).toContain("is empty");
    expect(await refusal()).toContain("is empty");
  });
});

describe("a database that cannot be used", () => {
  test("because it is damaged is named in one sentence", async () => {
    await (await serve()).stop();
    const bytes = readFileSync(database);
    writeFileSync(database, Buffer.from("no database at all\n".repeat(500)));
    expect(await refusal()).toContain(`The database ${database} is damaged`);
    // Its first page is well, the others are not.
    writeFileSync(
      database,
      Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 7)]),
    );
    expect(await refusal()).toContain(`The database ${database} is damaged`);
    expect(await refusal(["account", "list"])).toContain("is damaged");
    expect(await refusal(["ledger", "verify"])).toContain("is damaged");
  });

  test("because the disk takes no more is named in one sentence, and starts once it does", async () => {
    const main = resolve(import.meta.dir, "../../../src/main.ts");
    // 512 bytes each: enough for the secret, too little for the tables.
    const limited = `trap '' XFSZ; ulimit -f 16; exec "$@"`;
    const child = Bun.spawn(["sh", "-c", limited, "sh", process.execPath, main, "serve"], {
      env: home.environment({ FAKE_KEY: "x" }),
      stderr: "pipe",
    });
    const stderr = await new Response(child.stderr).text();
    expect(await child.exited).toBe(1);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toContain(database);
    expect(await (await serve()).stop()).toBe(0);
  });
});

describe("receipts that the disk had confirmed and that are gone", () => {
  test("are reported at the start and by `svc ledger verify`, also after many more", async () => {
    const first = await serve();
    const key = await openAccount();
    await payForCall(first, key);
    await first.stop();
    const before = readFileSync(database);
    const server = await serve();
    const lost = await payForCall(server, key);
    await server.stop();
    // The disk is back where it was, and only the mark knows better.
    rmSync(`${database}-wal`, { force: true });
    writeFileSync(database, before);
    const verified = async () => {
      const { code, stdout } = await home.svc("ledger verify --json");
      return { code, problems: JSON.parse(stdout).problems };
    };
    const finding = { code: 1, problems: [{ kind: "lost-receipts", subject: lost }] };
    expect(await verified()).toMatchObject(finding);
    const next = await serve();
    await next.waitForLog(lost);
    expect(next.stderr()).toContain("receipts that the disk had confirmed are missing");
    for (let calls = 0; calls < 3; calls++) await payForCall(next, key);
    expect(await next.stop()).toBe(0);
    expect(await verified()).toMatchObject(finding);
  });

  test("are not seen where none are: after a crash, a restart and a command in between", async () => {
    const server = await serveApart();
    const key = await openAccount();
    for (let calls = 0; calls < 3; calls++) await payForCall(server, key);
    server.signal("SIGKILL");
    await server.exited;
    await home.json("account create other");
    const next = await serve();
    await payForCall(next, key);
    expect(await next.stop()).toBe(0);
    expect(next.stderr()).not.toContain(`"level":"error"`);
    expect(await home.json<{ ok: boolean }>("ledger verify")).toMatchObject({ ok: true });
  });
});

describe("a ledger below zero", () => {
  test("is not served: the start names the account, what is missing and what to do", async () => {
    const server = await serve();
    await payForCall(server, await openAccount());
    await server.stop();
    const { id } = await home.json<{ id: string }>("account show payer");
    const raw = new Database(database);
    const columns =
      "account_id, key_id, model, endpoint, provider, attempts, price_version, input, cached_input, cache_write, output, audio_output, image, video_second, reasoning, estimated, hold, vendor_cost, outcome, first_byte_ms, duration_ms";
    raw.run(
      `insert into receipts (id, cost, charged, ${columns}) select ?, 1980000000, 1980000000, ${columns} from receipts limit 1`,
      [newId("req")],
    );
    const { charged } = raw
      .query<{ charged: number }, []>("select sum(charged) as charged from receipts")
      .get() ?? { charged: 0 };
    raw.close();
    const text = await refusal();
    const missing = toUsd(BigInt(charged) - 1_000_000_000n);
    expect(text).toContain(`payer (${id}) is overdrawn by ${missing} USD`);
    expect(text).toContain("Try: svc ledger verify");
    expect((await home.svc("ledger verify")).code).toBe(1);
    await home.json("account credit payer 0.5 --reference part");
    expect(await refusal()).toContain("is overdrawn by");
    await home.json("account credit payer 1 --reference rest");
    const repaired = await serve();
    const shown = await home.json<{ balance_usd: string }>("account show payer");
    expect(shown.balance_usd).toBe(toUsd(2_500_000_000n - BigInt(charged)));
    expect(await repaired.stop()).toBe(0);
    // The receipt is made up: its cost is wrong, and every sum is right again.
    const { stdout } = await home.svc("ledger verify --json");
    expect(JSON.parse(stdout).problems.map(({ kind }: { kind: string }) => kind)).toEqual(["cost"]);
  });
});
