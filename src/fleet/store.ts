import type { AuditRecord } from "../base/audit.ts";

/** A gateway process among several that share a database. */
export interface NodeRecord {
  /** Unique among the nodes that run. */
  readonly name: string;
  /**
   * Of its data directory: a node that starts again is the same, another with its name is not.
   * Workers add their number: `INSTANCE/1`.
   */
  readonly instance: string;
  readonly version: string;
  /** Where it can be reached. */
  readonly address: string;
  readonly pid: number;
}

/** What a node tells of itself with every tick. */
export interface NodeLoad {
  /** Calls under way. */
  readonly calls: number;
  /** Of its process: resident memory, and CPU time in milliseconds per second. */
  readonly memoryMb: number;
  readonly cpuMs: number;
  /** Whether it has heard that it is drained. */
  readonly isDraining?: boolean;
  /** False once a drained node has closed its port. */
  readonly isListening?: boolean;
  /** Every call of it that ended before this time is in the stored sums. */
  readonly sumsToMs?: number;
}

/** What nodes answer who is about to read a report. */
export interface ReportsAnswer {
  /** By the clock of the database. */
  readonly askedMs: number;
  /** Since when stored sums lack receipts of before then; undefined when they lack none. */
  readonly missingSinceMs: number | undefined;
}

/** A node as an operator sees it. Times are those of the database. */
export interface NodeView extends NodeRecord {
  readonly epoch: number;
  readonly startedAtMs: number;
  readonly lastSeenMs: number;
  /** How long ago it was last seen, by the clock of the database. */
  readonly unseenMs: number;
  readonly state: "running" | "draining" | "drained" | "silent" | "stopped";
  /** Also while it is silent. */
  readonly isDraining: boolean;
  readonly load: NodeLoad | undefined;
  /** How many leases it holds, and what is left in them. */
  readonly leases: number;
  readonly leasedNano: bigint;
}

export interface TickReply {
  /** False: another process has closed this node's epoch. It may admit and charge nothing any more. */
  readonly isOpen: boolean;
  readonly isDraining: boolean;
  /** The number of the newest change in the feed. */
  readonly sequence: number;
  /** Of that change; see `FeedPosition`. */
  readonly stamp?: string | undefined;
  /** Nodes that run, this one included. */
  readonly nodes: number;
  /** Accounts, and as `budget ID` budgets, whose idle money another node waits for. */
  readonly recalls: readonly string[];
  /** Raised whenever somebody looks at a report: sums that are not written yet are wanted. */
  readonly reports: number;
  /** The time, by the clock of the database. */
  readonly nowMs: number;
}

/** Implemented by a store that several processes share. */
export interface FleetStore {
  /**
   * Takes the name and raises the epoch. What an earlier start of the same node left open is closed.
   * Rejects with a Problem while another node runs by that name, or another machine by the name of
   * its machine. A worker that starts again on a drained machine is drained.
   */
  join(node: NodeRecord): Promise<{ readonly epoch: number }>;
  /**
   * Renews the epoch and hears what is new, in one call to the database. `seen` is the number of the
   * newest change that this node has in memory.
   */
  tick(load: NodeLoad, seen: number): Promise<TickReply>;
  /** Resolves when all nodes that answer have every change up to now in memory, or after a second. */
  whenHeard(): Promise<void>;
  /**
   * After the last receipt: gives all leases back and closes the epoch. A node whose start failed is
   * forgotten.
   */
  leave(as?: "listed" | "forgotten"): Promise<void>;
  /** Closes the epochs of nodes that are gone for good; how many. Several may try at once. */
  recover(): Promise<number>;
  /**
   * For who is about to read a report: resolves when every node that is there has written the sums
   * it had, or after a second. Nodes that are slow, silent or gone are in the answer.
   */
  wantReports(): Promise<ReportsAnswer>;
  /** Of a node: what `TickReply.reports` asked for up to this number is written. */
  reportsDone(reports: number): Promise<void>;
  nodes(): Promise<readonly NodeView[]>;
  /**
   * All at once. Resolves when those that answer have heard of it, or after a second, with the names
   * that exist.
   */
  setDraining(nodes: readonly DrainedNode[], isDraining: boolean): Promise<readonly string[]>;
}

export interface DrainedNode {
  readonly name: string;
  readonly audit: AuditRecord;
}

/** The name of its machine: workers are `MACHINE/1`, `MACHINE/2`, …. */
export const machineOf = (name: string) => name.split("/", 1)[0] ?? name;
