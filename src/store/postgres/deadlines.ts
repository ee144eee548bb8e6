/**
 * How long this side waits for the database server, in milliseconds. A server that sends nothing for
 * as long as a statement may wait is taken for gone, and the connection for lost. So is one that has
 * not ended its answer after `long`, or after the statement's own limit where a call waits for it.
 * The server cancels statements by itself (`statement_timeout`); these limits are for when it cannot
 * say so.
 */
export const deadlines = {
  /** For a new connection, and for a free one of the pool. */
  connect: 5_000,
  /** Each attempt counts: the next one follows within a quarter of a second. */
  tick: 2_000,
  /** A caller waits for permits, and other nodes wait for the rest. */
  permits: 2_000,
  /** Everything without a limit of its own. */
  statement: 5_000,
  /** Work over many rows, which the server cancels after `serverStatement`. */
  long: 35_000,
  /** Adds up the receipts of an epoch again; see `recountStatement`. */
  recount: 605_000,
  /** Migrations, copies and readers of the whole ledger, which the server never cancels. */
  unlimited: 6 * 3_600_000,
  /** For the pool to end with the process. */
  close: 2_000,
} as const;

/** The server's own limits. */
export const serverStatementMs = 30_000;
export const recountStatementMs = 600_000;

/** A connection whose network is gone is ended by the kernel, also when nobody uses it. */
export const keepAliveAfterMs = 10_000;
