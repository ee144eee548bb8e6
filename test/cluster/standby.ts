import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { type ForgettingProxy, startForgettingProxy } from "../setup/forgetting-proxy.ts";
import { createFolder, type PostgresServer, startPostgres } from "../setup/postgres.ts";

export type Replication = "asynchronous" | "synchronous";

const name = "standby";

/** A primary without data yet, and its standby behind a network that can fail. */
export class StandbyPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly #link: ForgettingProxy;

  private constructor(
    primary: PostgresServer,
    { standby, link }: { readonly standby: PostgresServer; readonly link: ForgettingProxy },
  ) {
    this.primary = primary;
    this.standby = standby;
    this.#link = link;
  }

  static async start(options: {
    readonly replication: Replication;
    readonly settings: Readonly<Record<string, string>>;
  }): Promise<StandbyPair> {
    const { replication, settings } = options;
    const folder = createFolder();
    const first = await startPostgres({ folder, settings });
    await first.stop();
    const copy = createFolder();
    const copied = spawnSync("cp", ["-a", join(folder, "data"), copy], { encoding: "utf8" });
    if (copied.status !== 0) throw new Error(`The copy failed: ${copied.stderr}`);
    rmSync(join(copy, "data", "postmaster.pid"), { force: true });
    writeFileSync(join(copy, "data", "standby.signal"), "");
    const primary = await startPostgres({
      folder,
      settings: {
        ...settings,
        synchronous_standby_names: replication === "synchronous" ? name : "",
      },
    });
    const link = await startForgettingProxy(primary.url);
    const { port } = new URL(link.url);
    const standby = await startPostgres({
      folder: copy,
      settings: {
        ...settings,
        primary_conninfo: `host=127.0.0.1 port=${port} user=postgres application_name=${name} sslmode=disable`,
      },
    });
    return new StandbyPair(primary, { standby, link });
  }

  /** From here on, the standby gets nothing. */
  cut(): void {
    this.#link.stall();
  }

  /** The primary's machine is gone, with what it had not sent. */
  async promote(): Promise<void> {
    await this.#link.close();
    const client = new Client({ connectionString: this.standby.url });
    await client.connect();
    try {
      const { rows } = await client.query<{ done: boolean }>("select pg_promote(true, 30) as done");
      if (rows[0]?.done !== true) throw new Error("The standby was not promoted.");
    } finally {
      await client.end();
    }
  }

  async stop(): Promise<void> {
    await this.#link.close().catch(() => {});
    await this.primary.stop();
    await this.standby.stop();
    for (const { folder } of [this.primary, this.standby])
      rmSync(folder, { recursive: true, force: true });
  }
}
