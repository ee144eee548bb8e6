import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/store/postgres/migrations/migrations.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { freePort } from "../setup/platform-home.ts";
import { createDatabase, dropDatabase } from "../setup/postgres.ts";
import { debianTool } from "./tools.ts";

const nobody = 65_534;
const folder = mkdtempSync(join(tmpdir(), "svc-pgbouncer-"));
let url: string;
let bouncer: Bun.Subprocess | undefined;

beforeAll(async () => {
  url = await createDatabase();
});
afterEach(async () => {
  bouncer?.kill("SIGKILL");
  await bouncer?.exited;
});
afterAll(async () => {
  await dropDatabase(url);
  rmSync(folder, { recursive: true });
});

/** In front of the database, configured by nothing but the mode; its address. */
async function startBouncer(mode: string): Promise<string> {
  const { hostname, port, pathname, username } = new URL(url);
  const name = pathname.slice(1);
  const own = freePort();
  const users = join(folder, "users.txt");
  const file = join(folder, `${mode}.ini`);
  writeFileSync(users, `"${username}" ""\n`);
  writeFileSync(
    file,
    `[databases]\n${name} = host=${hostname} port=${port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${own}\nunix_socket_dir =\nauth_type = trust\nauth_file = ${users}\npool_mode = ${mode}\n`,
  );
  for (const path of [folder, users, file]) chownSync(path, nobody, nobody);
  bouncer = Bun.spawn([debianTool("pgbouncer"), "-q", file], {
    ...(process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}),
    stdout: "ignore",
    stderr: "ignore",
  });
  const address = Object.assign(new URL(url), { port: own }).toString();
  for (;;) {
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: Number(own),
      socket: { data() {} },
    }).catch(() => undefined);
    socket?.end();
    if (socket !== undefined) return address;
    await Bun.sleep(20);
  }
}

test("in session mode, PgBouncer works as it is, with the time limit of statements", async () => {
  const postgres = await openPostgres({ url: await startBouncer("session"), statementMs: 1_234 });
  try {
    await migrate(postgres.db);
    const clients = await Promise.all(Array.from({ length: 4 }, () => postgres.pool.connect()));
    for (const client of clients) {
      const { rows } = await client.query("show statement_timeout");
      expect(rows).toEqual([{ statement_timeout: "1234ms" }]);
      client.release();
    }
    await expect(postgres.pool.query("select pg_sleep(5)")).rejects.toThrow("statement timeout");
  } finally {
    await postgres.close();
  }
});

test.each(["transaction", "statement"])("in %s mode, it is refused in a sentence", async (mode) => {
  await expect(openPostgres({ url: await startBouncer(mode) })).rejects.toThrow(
    "Set pool_mode = session in the pooler (PgBouncer) for this database, or connect to PostgreSQL directly.",
  );
});
