import type { TargetHealth } from "../catalog/health.ts";
import type { OnUpgrade } from "../cli/store-wiring.ts";
import type { FleetClock } from "../fleet/clock.ts";
import type { FleetStore } from "../fleet/store.ts";
import type { EndedOwnerStore } from "../keys/signed-keys.ts";
import type { LeaseStore } from "../ledger/lease-store.ts";
import type { MinuteStore } from "../ledger/minutes.ts";
import type { PermitStore } from "../limits/permit-store.ts";
import type { TryCounter } from "../people/tries.ts";
import type { RunningGateway } from "../platform/gateway/operations.ts";
import type { LiveOptions } from "../platform/live/live.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { Losses } from "../store/postgres/ledger/losses.ts";
import type { DirectoryUser } from "../store/sqlite/data-dir.ts";
import type { DataLock } from "../store/sqlite/lock.ts";
import type { Store } from "../store/store.ts";
import type { OpenedSecrets } from "./secret.ts";

/** Who opens the store. With PostgreSQL, servers and workers are nodes of the fleet. */
export type StoreUser = StoreRole & {
  /** Shows what an upgrade does before it does it; absent: it is printed. */
  readonly onUpgrade?: OnUpgrade | undefined;
  /** Throws NoDatabase where there is none, instead of creating one. */
  readonly mustExist?: boolean;
};

export const directoryUser = ({ kind }: StoreUser): DirectoryUser =>
  kind === "command" || kind === "copy" ? "command" : "server";

type StoreRole =
  | { readonly kind: "server" | "supervisor" | "platform" | "command" | "copy" }
  | { readonly kind: "worker"; readonly worker: number };

/** What a process that charges calls has of a shared database. */
export interface NodeParts {
  /** Notices when the database has lost what it had confirmed. */
  readonly losses: Pick<Losses, "watch" | "close" | "lost">;
  readonly leases: LeaseStore;
  readonly permits: PermitStore;
  readonly minutes: MinuteStore;
  /** For the other processes: how targets are doing here. */
  readonly writeTargets: (targets: readonly TargetHealth[]) => Promise<void>;
}

/** What processes that share a database know of each other. */
export interface SharedProcesses {
  readonly fleet: FleetStore;
  /** The time of the database, which is the same for all. */
  readonly clock: FleetClock;
  /** For a process that does not tick; rejects when the database does not answer. */
  readonly readClock: () => Promise<void>;
  /** Of gateways alone. */
  readonly node?: NodeParts | undefined;
  /** The targets of all gateways, this one included. */
  readonly targets: Pick<RunningGateway, "health" | "resetHealth" | "forgetServed">;
  readonly endedOwners: EndedOwnerStore;
  readonly signInTries?: TryCounter | undefined;
  /** One process at a time does what a new installation needs once. */
  readonly firstStart: <T>(work: () => Promise<T>) => Promise<T>;
  /** Receipts and refused calls of all gateways. */
  readonly live: Pick<LiveOptions, "watchers" | "rejectionWatchers" | "listening">;
}

/** Does what a new installation needs once, alone among the processes that share its database. */
export const inFirstStart = <T>({ shared }: Opened, work: () => Promise<T>): Promise<T> =>
  shared === undefined ? work() : shared.firstStart(work);

export interface Opened {
  readonly store: Store;
  readonly secrets: Secrets;
  /** What wraps them. */
  readonly keys: OpenedSecrets;
  readonly lock: DataLock;
  /** Where several processes share the database: how they reach each other through it. */
  readonly shared?: SharedProcesses | undefined;
  /** Of a node: its start is complete. One that is closed before that leaves no entry behind. */
  started?(): void;
  close(withinMs?: number): Promise<void>;
}
