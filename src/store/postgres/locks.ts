import { hourMs } from "../../ledger/rollups.ts";

/** Of the database's advisory locks: the first number is ours, the second says what for. */
const ours = 0x737663;
/** The same for epochs, each with its own. */
const ofEpochs = ours + 1;
const mostLocks = 2 ** 31 - 1;
/** The second number is the hour. */
const ofHours = ours + 2;

/** Processes that charge or lend share it; one that closes the epoch has it alone. */
export const epochShareCall = (epoch: string) =>
  `pg_advisory_xact_lock_shared(${ofEpochs}, cast(${epoch} % ${mostLocks} as integer))`;

export const epochLockSql = `select pg_advisory_xact_lock(${ofEpochs}, cast($1::bigint % ${mostLocks} as integer))`;

/** Waits, and is released with its transaction. */
export const lockSql = (lock: Lock) => `select pg_advisory_xact_lock(${ours}, ${places[lock]})`;

/** Held together with others that share it. */
export const shareSql = (lock: Lock) => `select ${shareCall(lock)}`;

/** The same within a function. */
export const shareCall = (lock: Lock) => `pg_advisory_xact_lock_shared(${ours}, ${places[lock]})`;

/** Of the connection, across transactions, without waiting: until it is released, or ends. */
export const tryHoldSql = (lock: Lock) =>
  `select pg_try_advisory_lock(${ours}, ${places[lock]}) as has`;

export const releaseSql = (lock: Lock) => `select pg_advisory_unlock(${ours}, ${places[lock]})`;

/** Does not wait: `has` is false when another holds it. */
export const tryLockSql = (lock: Lock) =>
  `select pg_try_advisory_xact_lock(${ours}, ${places[lock]}) as has`;

/** Transactions that hold it now; a later one of the same connection has another name. */
export const sharersSql = (lock: Lock) => `select virtualtransaction as holder from pg_locks
  where locktype = 'advisory' and granted and classid = ${ours} and objid = ${places[lock]}
    and database = (select oid from pg_database where datname = current_database())`;

/** The sums of one hour. */
export const lockHourSql = (ms: number) =>
  `select pg_advisory_xact_lock(${ofHours}, ${Math.floor(ms / hourMs)})`;

/** In the order of time: of two who lock several, none waits for the other in turn. */
export const shareHoursSql = (hours: Iterable<number>) =>
  `select ${[...hours]
    .toSorted((one, other) => one - other)
    .map((ms) => `pg_advisory_xact_lock_shared(${ofHours}, ${Math.floor(ms / hourMs)})`)
    .join(", ")}`;

export type Lock = keyof typeof places;

const places = {
  folding: 1,
  sums: 2,
  partitions: 3,
  retention: 4,
  erasing: 5,
  copying: 6,
  limits: 7,
  "first start": 8,
  joining: 9,
  exporting: 10,
} as const;
