import { announceToGateways } from "../../src/app/gateway-news.ts";
import type { ServerOptions } from "../../src/app/server.ts";
import { openStore } from "../../src/app/store.ts";
import { FleetClock } from "../../src/fleet/clock.ts";
import type { NodeRecord } from "../../src/fleet/store.ts";
import { PostgresFleet } from "../../src/store/postgres/fleet.ts";
import { openPostgres, type Postgres } from "../../src/store/postgres/postgres.ts";
import { createEndedOwnerStore } from "../../src/store/postgres/shared/ended-owners.ts";
import { LiveCalls } from "../../src/store/postgres/shared/live.ts";
import { PostgresTargets } from "../../src/store/postgres/shared/targets.ts";
import { createMigratedDatabase } from "./empty-postgres.ts";
import { dropDatabase } from "./postgres.ts";

/** A database in which nodes meet. */
export interface NodesHome {
  readonly postgres: Postgres;
  /** For a test gateway: it joins by that name. Its money stays in a file of its own. */
  opener(name: string): NonNullable<ServerOptions["open"]>;
  /** A node that is nothing but its entry. */
  join(node: Partial<NodeRecord> & Pick<NodeRecord, "name">): Promise<PostgresFleet>;
  remove(): Promise<void>;
}

export async function openNodes(): Promise<NodesHome> {
  const url = await createMigratedDatabase();
  const postgres = await openPostgres({ url });
  const { pool, db, newClient } = postgres;
  const live = new LiveCalls({ pool, newClient, onError: () => {} });
  const join: NodesHome["join"] = async (node) => {
    const fleet = new PostgresFleet({ pool, db, goneAfterMs: 60_000 });
    const usual = { instance: node.name, version: "0.0.0-test", pid: 1 };
    await fleet.join({ ...usual, address: "http://192.0.2.1:8080", ...node });
    return fleet;
  };
  return {
    postgres,
    join,
    opener: (name) => async (configuration) => {
      const opened = await openStore(configuration);
      const targets = new PostgresTargets(pool);
      const health = () => targets.health();
      const shared = {
        fleet: await join({ name }),
        targets: { health, ...announceToGateways(db, { health }) },
        endedOwners: createEndedOwnerStore(db),
        live,
        clock: new FleetClock(),
        readClock: async () => {},
        firstStart: <T>(work: () => Promise<T>) => work(),
      };
      return { ...opened, shared };
    },
    async remove() {
      await live.close();
      await postgres.close();
      await dropDatabase(url);
    },
  };
}
