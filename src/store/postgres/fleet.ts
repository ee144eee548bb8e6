import type { Pool, PoolClient } from "pg";
import { monotonicMs } from "../../base/clock.ts";
import { Problem } from "../../base/problem.ts";
import {
  type DrainedNode,
  type FleetStore,
  machineOf,
  type NodeLoad,
  type NodeRecord,
  type NodeView,
  type ReportsAnswer,
  type TickReply,
} from "../../fleet/store.ts";
import { addAudit } from "../sql/audit.ts";
import { stampSql } from "../sql/feed.ts";
import type { Db } from "../sql/schema.ts";
import { deadlines } from "./deadlines.ts";
import { closeEpoch } from "./ledger/close-epoch.ts";
import { silentAfter } from "./ledger/leases.ts";
import { lockSql } from "./locks.ts";
import { query } from "./query.ts";
import { recountEpoch } from "./reports/recount.ts";
import { ReportRequests } from "./shared/report-requests.ts";
import { SilentEpochs, type SilentRow, silentSql } from "./silent-epochs.ts";
import { brief, transact } from "./transaction.ts";

export interface FleetStoreOptions {
  readonly pool: Pool;
  readonly db: Db;
  /** An epoch that was not renewed for so long has no call under way any more. */
  readonly goneAfterMs: number;
  /** Monotonic time of this process. */
  readonly elapsedMs?: (() => number) | undefined;
  /** Told the number of the newest change. */
  readonly onSequence?: ((sequence: number) => void) | undefined;
}

/** A tick that is not answered by then has failed. */
const answerMs = deadlines.tick;
/** Who joins waits for others that join; who closes an epoch has all its leases to give back. */
const briefOverMany = { ...brief, answerMs: deadlines.long };
/** How long a change waits until all nodes have heard of it, and how often it looks. */
const heardWithinMs = 1_000;
const lookEveryMs = 50;
const pruneEveryMs = 3_600_000;

/** The nodes that share a database. Times are the database's own: no clock of a node counts. */
export class PostgresFleet implements FleetStore {
  readonly #options: FleetStoreOptions;
  readonly #wanted: ReportRequests;
  #prunedMs = Number.NEGATIVE_INFINITY;
  readonly #silent: SilentEpochs;
  #joined: { readonly name: string; readonly epoch: number } | undefined;

  constructor(options: FleetStoreOptions) {
    this.#options = options;
    this.#silent = new SilentEpochs(options.elapsedMs ?? monotonicMs);
    this.#wanted = new ReportRequests(options.pool);
  }

  async join(node: NodeRecord): Promise<{ readonly epoch: number }> {
    const epoch = await transact(
      this.#options.pool,
      async (client) => {
        const left = await this.#takeName(client, node);
        for (const id of left) await closeEpoch(client, id);
        const { rows } = await client.query<{ id: number }>(
          // It has nothing that anybody asked for before.
          `with opened as (
            insert into epochs (node, gone_after) values ($1, $2 * interval '1 millisecond')
            returning id)
          insert into heartbeats (epoch, reports_done)
            select opened.id, wanted from opened, report_requests where report_requests.id = 1
          returning epoch as id`,
          [node.name, this.#options.goneAfterMs],
        );
        const id = rows[0]?.id ?? 0;
        await client.query("update nodes set epoch = $2 where name = $1", [node.name, id]);
        return id;
      },
      briefOverMany,
    );
    this.#joined = { name: node.name, epoch };
    return { epoch };
  }

  /** The epochs that an earlier start of it left open. */
  async #takeName(client: PoolClient, node: NodeRecord): Promise<readonly number[]> {
    const { name, instance, version, address, pid } = node;
    // NAME and NAME/1 are different rows, so their locks would not keep two machines apart.
    await client.query(lockSql("joining"));
    await refuseOtherMachine(client, node);
    await client.query(
      `insert into nodes (name, instance, version, address, pid, epoch)
        values ($1, $2, $3, $4, $5, 0) on conflict (name) do nothing`,
      [name, instance, version, address, pid],
    );
    const open = await client.query<{ id: number }>(
      "select id from epochs where node = $1 and is_open order by id",
      [name],
    );
    await client.query(
      `update nodes set instance = $2, version = $3, address = $4, pid = $5,
          is_draining = exists (${drainedWorkerSql}) where name = $1`,
      [name, instance, version, address, pid, `${machineOf(name)}/`, silentAfter],
    );
    return open.rows.map(({ id }) => id);
  }

  async tick(load: NodeLoad, seen: number): Promise<TickReply> {
    const { name, epoch } = this.#own();
    const [row] = await query<TickRow>(this.#options.pool, {
      name: "svc_tick",
      text: tickSql,
      values: [epoch, name, JSON.stringify(load), silentAfter, seen],
      answerMs,
    });
    if (row === undefined) throw new Error("the node is not registered");
    this.#options.onSequence?.(row.sequence);
    return {
      isOpen: row.is_open,
      isDraining: row.is_draining,
      sequence: row.sequence,
      stamp: row.stamp ?? undefined,
      nodes: Math.max(1, row.nodes),
      recalls: row.recalls,
      reports: row.reports,
      nowMs: row.now_ms,
    };
  }

  async whenHeard(): Promise<void> {
    const { pool } = this.#options;
    const latest = await pool.query<{ sequence: number }>("select sequence from feed where id = 1");
    const sequence = latest.rows[0]?.sequence ?? 0;
    await this.#untilNoneBehind(
      `select count(*) as behind from epochs join heartbeats on epoch = id
        where is_open and seen_sequence < $1
          and renewed_at > clock_timestamp() - $2::interval`,
      [sequence, silentAfter],
    );
  }

  async leave(as: "listed" | "forgotten" = "listed"): Promise<void> {
    const { pool } = this.#options;
    const { name, epoch } = this.#own();
    await transact(pool, (client) => closeEpoch(client, epoch), briefOverMany);
    await transact(pool, (client) => recountEpoch(client, epoch));
    if (as === "forgotten")
      await pool.query("delete from nodes where name = $1 and epoch = $2", [name, epoch]);
  }

  async recover(): Promise<number> {
    const { pool } = this.#options;
    const { rows } = await pool.query<SilentRow>(silentSql);
    const gone = this.#silent.gone(rows);
    let closed = 0;
    for (const { id, heartbeat } of rows) {
      if (heartbeat !== null) {
        if (!gone.has(id)) continue;
        const close = (client: PoolClient) => closeEpoch(client, id, heartbeat);
        if (await transact(pool, close, briefOverMany)) closed++;
      }
      // In a transaction of its own, because it may take long. A receipt that came after its epoch
      // was closed is not in the sums either.
      await transact(pool, (client) => recountEpoch(client, id));
    }
    await this.#prune();
    return closed;
  }

  /** Names that nothing runs by any more, and what their epochs left. */
  async #prune(): Promise<void> {
    if (performance.now() - this.#prunedMs < pruneEveryMs) return;
    this.#prunedMs = performance.now();
    for (const text of pruneSql) await this.#options.pool.query({ text, answerMs: deadlines.long });
  }

  wantReports(): Promise<ReportsAnswer> {
    return this.#wanted.run();
  }

  async reportsDone(reports: number): Promise<void> {
    await query(this.#options.pool, {
      text: "update heartbeats set reports_done = $2 where epoch = $1 and reports_done < $2",
      values: [this.#own().epoch, reports],
      answerMs,
    });
  }

  async nodes(): Promise<readonly NodeView[]> {
    const { rows } = await this.#options.pool.query<NodeRow>(nodesSql, [silentAfter]);
    return rows.map(toView);
  }

  async setDraining(
    nodes: readonly DrainedNode[],
    isDraining: boolean,
  ): Promise<readonly string[]> {
    const changed = await this.#options.db.transaction().execute(async (transaction) => {
      const found: string[] = [];
      for (const { name, audit } of nodes) {
        const { numUpdatedRows } = await transaction
          .withTables<{ nodes: { name: string; is_draining: boolean } }>()
          .updateTable("nodes")
          .set({ is_draining: isDraining })
          .where("name", "=", name)
          .executeTakeFirstOrThrow();
        if (numUpdatedRows === 0n) continue;
        await addAudit(transaction, audit);
        found.push(name);
      }
      return found;
    });
    if (changed.length > 0) await this.#untilDraining(changed, isDraining);
    return changed;
  }

  /** Not a change in the feed: nodes of an older version would not know its topic. */
  #untilDraining(names: readonly string[], isDraining: boolean): Promise<void> {
    return this.#untilNoneBehind(
      `select count(*) as behind from nodes n join epochs e on e.id = n.epoch
          join heartbeats h on h.epoch = e.id
        where n.name = any($1) and e.is_open and renewed_at > clock_timestamp() - $2::interval
          and coalesce((h.load::jsonb->>'isDraining')::boolean, false) <> $3`,
      [names, silentAfter, isDraining],
    );
  }

  async #untilNoneBehind(text: string, values: readonly unknown[]): Promise<void> {
    for (let left = heardWithinMs; left > 0; left -= lookEveryMs) {
      const { rows } = await this.#options.pool.query<{ behind: number }>(text, [...values]);
      if (rows[0]?.behind === 0) return;
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }

  #own(): { readonly name: string; readonly epoch: number } {
    if (this.#joined === undefined) throw new Error("this process has not joined");
    return this.#joined;
  }
}

/** A name stands for one machine: NAME beside NAME/1 of another would be drained with it. */
async function refuseOtherMachine(
  client: PoolClient,
  { name, instance }: Pick<NodeRecord, "name" | "instance">,
): Promise<void> {
  const machine = machineOf(name);
  const { rows } = await client.query<{ name: string; unseen_ms: number; left_ms: number }>(
    `select nodes.name, ${ms("clock_timestamp() - renewed_at")} as unseen_ms,
        ${ms("renewed_at + gone_after - clock_timestamp()")} as left_ms
      from nodes join epochs on node = nodes.name join heartbeats on heartbeats.epoch = epochs.id
      where is_open and renewed_at + gone_after > clock_timestamp()
        and (nodes.name = $1 or nodes.name = $2 or starts_with(nodes.name, $2 || '/'))
        and case when nodes.name = $1 then instance <> $3
          else split_part(instance, '/', 1) <> split_part($3, '/', 1) end
      order by epochs.id desc limit 1`,
    [name, machine, instance],
  );
  const [running] = rows;
  if (running === undefined) return;
  throw new Problem({
    code: "conflict",
    message: `Another node named ${running.name} uses this database (it was last seen ${seconds(running.unseen_ms)} ago). Give this one another name with SVC_NODE, or, if it is the same node with a new data directory, wait until the other one is given up in ${seconds(running.left_ms)}.`,
    command: "nodes",
  });
}

/** A worker of the same machine that runs and is drained. */
const drainedWorkerSql = `select 1 from nodes n join epochs e on e.id = n.epoch
    join heartbeats h on h.epoch = e.id
  where n.name <> $1 and $1 like '%/%' and starts_with(n.name, $6) and n.is_draining and e.is_open
    and renewed_at > clock_timestamp() - $7::interval`;

const seconds = (ms: number) => `${Math.max(1, Math.ceil(ms / 1000))} s`;

interface TickRow {
  readonly is_open: boolean;
  readonly is_draining: boolean;
  readonly sequence: number;
  readonly stamp: string | null;
  readonly nodes: number;
  readonly recalls: readonly string[];
  readonly reports: number;
  readonly now_ms: number;
}

const ms = (moment: string) => `floor(extract(epoch from ${moment}) * 1000)::bigint`;

const tickSql = `with renewed as (
    update heartbeats set renewed_at = clock_timestamp(), seen_sequence = $5, load = $3
      where epoch = $1 and not is_closed returning epoch)
  select exists (select 1 from renewed) as is_open,
    coalesce((select is_draining from nodes where name = $2 and epoch = $1), false) as is_draining,
    newest.sequence,
    (select ${stampSql} from changes where changes.sequence = newest.sequence) as stamp,
    (select count(*) from epochs join heartbeats on epoch = id
      where is_open and renewed_at > clock_timestamp() - $4::interval) as nodes,
    array(select owner_id from recalls where until > clock_timestamp() and (
      exists (select 1 from leases
        where account_id = owner_id and epoch = $1 and granted > spent)
      or exists (select 1 from budget_leases b
        where 'budget ' || b.owner_id = recalls.owner_id and b.epoch = $1 and b.granted > b.spent))) as recalls,
    (select wanted from report_requests where id = 1) as reports,
    ${ms("clock_timestamp()")} as now_ms
  from (select sequence from feed where id = 1) as newest`;

const pruneSql = [
  "delete from recalls where until < clock_timestamp() - interval '1 minute'",
  `delete from nodes using epochs where epochs.id = nodes.epoch
    and not is_open and closed_at < clock_timestamp() - interval '7 days'`,
  `with old as (select id from epochs where not is_open and open_from_ms is null
      and closed_at < clock_timestamp() - interval '30 days'
      and not exists (select from nodes where nodes.epoch = epochs.id)),
    silent as (delete from heartbeats using old where heartbeats.epoch = old.id)
  delete from epochs using old where epochs.id = old.id`,
];

interface NodeRow {
  readonly name: string;
  readonly instance: string;
  readonly version: string;
  readonly address: string;
  readonly pid: number;
  readonly epoch: number;
  readonly is_open: boolean;
  readonly is_draining: boolean;
  readonly is_silent: boolean;
  readonly started_ms: number;
  readonly seen_ms: number;
  readonly unseen_ms: number;
  readonly load: string;
  readonly leases: number;
  readonly leased: string;
}

const nodesSql = `select n.name, n.instance, n.version, n.address, n.pid, n.epoch, h.load,
    n.is_draining, e.is_open, h.renewed_at < clock_timestamp() - $1::interval as is_silent,
    ${ms("e.opened_at")} as started_ms, ${ms("h.renewed_at")} as seen_ms,
    ${ms("clock_timestamp() - h.renewed_at")} as unseen_ms,
    (select count(*) from leases l where l.epoch = e.id and granted > spent) as leases,
    cast((select coalesce(sum(granted - spent), 0) from leases l where l.epoch = e.id) as text)
      as leased
  from nodes n join epochs e on e.id = n.epoch join heartbeats h on h.epoch = e.id
  order by n.name`;

function toView(row: NodeRow): NodeView {
  const { name, instance, version, address, pid, epoch } = row;
  const load: Partial<NodeLoad> = JSON.parse(row.load);
  // One that was resumed and cannot open its port again takes no calls either.
  const isClosed = load.isListening === false;
  const isDone = row.is_draining && isClosed && load.calls === 0;
  const running = isDone ? "drained" : row.is_draining || isClosed ? "draining" : "running";
  return {
    name,
    instance,
    version,
    address,
    pid,
    epoch,
    startedAtMs: row.started_ms,
    lastSeenMs: row.seen_ms,
    unseenMs: row.unseen_ms,
    state: row.is_open ? (row.is_silent ? "silent" : running) : "stopped",
    isDraining: row.is_open && row.is_draining,
    load:
      load.calls === undefined || load.memoryMb === undefined || load.cpuMs === undefined
        ? undefined
        : { calls: load.calls, memoryMb: load.memoryMb, cpuMs: load.cpuMs },
    leases: row.leases,
    leasedNano: BigInt(row.leased),
  };
}
