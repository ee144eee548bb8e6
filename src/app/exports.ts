import type { AuditRecord } from "../base/audit.ts";
import type { Clock } from "../base/clock.ts";
import { createLog, type Log } from "../base/log.ts";
import { childEnvironment, type Environment } from "../config/child-environment.ts";
import type { Settings } from "../config/settings.ts";
import type { Carrier } from "../exports/delivery.ts";
import type { Destination, Format, S3Target } from "../exports/destination.ts";
import { Exporter, type OpenCarrier } from "../exports/exporter.ts";
import { fileCarrier } from "../exports/file-carrier.ts";
import type { Call } from "../exports/http-call.ts";
import { httpCarrier } from "../exports/http-carrier.ts";
import { collectPart, type ReadPart, type RowEncoder } from "../exports/part.ts";
import { progressOf } from "../exports/progress.ts";
import { type Reference, readReference } from "../exports/references.ts";
import { s3Carrier } from "../exports/s3-carrier.ts";
import type { ExportStore } from "../exports/store.ts";
import type { Receipt } from "../ledger/receipt.ts";
import type { LedgerReader } from "../ledger/store.ts";
import { auditLines } from "../platform/audit/lines.ts";
import type { RunningExports } from "../platform/exports/operations.ts";
import type { ReceiptNames } from "../platform/requests/columns.ts";
import { receiptNames } from "../platform/requests/export/export.ts";
import { receiptLines } from "../platform/requests/export/lines.ts";
import { Dialer, type DialerOptions } from "../providers/kit/dial.ts";
import { createFetch } from "../providers/kit/http.ts";
import type { Store } from "../store/store.ts";
import { exportMetrics, type WriteMetrics } from "../telemetry/exports.ts";
import { Ticker } from "./ticker.ts";

export interface ExportsOptions {
  readonly store: Pick<Store, "exports">;
  readonly settings: Pick<Settings, "maxCallMs" | "graceMs">;
  /** The ledger as of now, on a connection of its own. */
  readonly readLedger: ReadLedger;
  /** Of the environment of this process. */
  readonly variable: Variable;
  /** The same, for processes that this one starts. */
  readonly environment: Environment;
  readonly usesProxy: DialerOptions["usesProxy"];
  /** Set for a command of root; undefined where the server's user runs this. */
  readonly userOfServer?: number | undefined;
  readonly clock: Clock;
  /** Absent for a command, which shows its result itself. */
  readonly log?: Log | undefined;
}

type ReadLedger = <T>(run: (ledger: LedgerReader) => Promise<T>) => Promise<T>;

export interface Exports extends RunningExports {
  /** Undefined without exports. */
  readMetrics(): Promise<WriteMetrics | undefined>;
  /** Exports whole hours as they become complete, until it is closed. */
  start(): { close(): Promise<void> };
}

const everyMs = 5_000;
/** For a command that finds a pass running. */
const mostTries = 60;
const betweenTriesMs = 500;
/** Beyond the longest call and the time in which a process stops: for clocks that differ. */
const spareMs = 60_000;

/** How long after its end an hour is exported. */
export const exportLagMs = ({ maxCallMs, graceMs }: ExportsOptions["settings"]): number =>
  maxCallMs + graceMs + spareMs;

export function createExports(options: ExportsOptions): Exports {
  const { settings, store, readLedger, clock } = options;
  const log = options.log ?? createLog({ level: "silent", pretty: false, write: () => {} });
  const lagMs = exportLagMs(settings);
  const open: OpenCarrier = (destination, isNew) => openCarrier(destination, { ...options, isNew });
  const exporter = new Exporter({
    store: store.exports,
    sources: exportSources(store.exports, readLedger),
    openCarrier: open,
    clock,
    lagMs,
    log,
  });
  return {
    lagMs,
    openCarrier: open,
    async readMetrics() {
      const [destinations, states] = await Promise.all([
        store.exports.list(),
        store.exports.states(),
      ]);
      const time = { lagMs, nowMs: clock.nowMs() };
      const shown = await Promise.all(
        states.map(async (state) => {
          const of = destinations.find(({ id }) => id === state.destinationId) ?? { fromMs: 0 };
          return { ...state, lagMs: (await progressOf(store.exports, of, state, time)).lagMs };
        }),
      );
      return exportMetrics(destinations, shown);
    },
    async runNow(name) {
      const { signal } = new AbortController();
      for (let tries = 1; ; tries++) {
        const result = await exporter.pass({ name, isForced: true, signal });
        if (result !== undefined || tries === mostTries) return result;
        await Bun.sleep(betweenTriesMs);
      }
    },
    start() {
      const ending = new AbortController();
      const ticker = new Ticker({
        work: async () => void (await exporter.pass({ signal: ending.signal })),
        what: "export",
        log,
        everyMs,
      });
      return {
        close() {
          ending.abort();
          return ticker.close();
        },
      };
    },
  };
}

type CarrierOptions = Pick<
  ExportsOptions,
  "store" | "variable" | "environment" | "usesProxy" | "userOfServer"
> & {
  readonly isNew: boolean;
};

type Variable = (name: string) => string | undefined;

function openCarrier({ name, target }: Destination, options: CarrierOptions): Carrier {
  const read = (reference: Reference) => readReference(reference, options.variable);
  const optional = (reference: Reference | undefined) => reference && read(reference);
  switch (target.kind) {
    case "file":
      return fileCarrier(target, {
        owner: async () => ({ storeId: await options.store.exports.storeId(), name }),
        isNew: options.isNew,
        user: options.userOfServer,
        environment: childEnvironment(options.environment, "command"),
      });
    case "http":
      return httpCarrier(
        target,
        { authorization: optional(target.authorization), signing: optional(target.signing) },
        callOf(name, target.allowPrivate, options),
      );
    case "s3":
      return s3Carrier(
        target,
        {
          accessKeyId: read(target.accessKeyId),
          secretAccessKey: read(target.secretAccessKey),
          sessionToken: optional(target.sessionToken) ?? ambientToken(target, options.variable),
        },
        callOf(name, target.allowPrivate, options),
      );
    default:
      return target satisfies never;
  }
}

/** Of the keys in the usual variables, which belong together. */
function ambientToken({ accessKeyId }: S3Target, variable: Variable): string | undefined {
  if (accessKeyId !== "env:AWS_ACCESS_KEY_ID") return undefined;
  return variable("AWS_SESSION_TOKEN") === undefined
    ? undefined
    : readReference("env:AWS_SESSION_TOKEN", variable);
}

/** Addresses are checked when they are called, as those of upstreams are. */
function callOf(name: string, allowPrivate: boolean, { usesProxy }: CarrierOptions): Call {
  return createFetch(new Dialer({ provider: `export ${name}`, allowPrivate, usesProxy }));
}

export const exportSources = (store: ExportStore, readLedger: ReadLedger) => ({
  receipts: receiptSource(readLedger),
  audit: auditSource(store),
});

/** Receipts are read on a connection of their own, and none stays open while they are sent. */
function receiptSource(readLedger: ReadLedger): ReadPart {
  return ({ fromMs, toMs, afterId }, limits) =>
    readLedger(async (ledger) => {
      const names = await receiptNames(ledger);
      const limit = limits.mostRows;
      const span = { fromMs, toMs, afterId: afterId === "" ? undefined : afterId };
      const rows = ledger.receipts({ ...span, limit, oldestFirst: true });
      return collectPart(rows, await receiptEncoder(limits.format, names), limits);
    });
}

const recordsAtOnce = 250;

const auditSource =
  (store: ExportStore): ReadPart =>
  async (span, limits) =>
    collectPart(auditRecords(store, span), await auditEncoder(limits.format), limits);

// Loaded here, because most installations do without Parquet.
async function receiptEncoder(format: Format, names: ReceiptNames): Promise<RowEncoder<Receipt>> {
  if (format === "jsonl") return receiptLines(names);
  return (await import("../platform/requests/export/parquet.ts")).parquetEncoder(names);
}

async function auditEncoder(format: Format): Promise<RowEncoder<AuditRecord>> {
  if (format === "jsonl") return auditLines();
  return (await import("../platform/audit/parquet.ts")).auditParquet();
}

async function* auditRecords(
  store: ExportStore,
  span: Parameters<ExportStore["audit"]>[0],
): AsyncGenerator<AuditRecord> {
  let { afterId } = span;
  for (;;) {
    const page = await store.audit({ ...span, afterId }, recordsAtOnce);
    yield* page;
    if (page.length < recordsAtOnce) return;
    afterId = page.at(-1)?.id ?? afterId;
  }
}
