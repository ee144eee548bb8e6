import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import { newId } from "../../base/ids.ts";
import { conflict, invalid, Problem } from "../../base/problem.ts";
import { DeliveryFailure } from "../../exports/delivery-failure.ts";
import {
  type CheckAddress,
  checkName,
  type Destination,
  mostDestinations,
  readFormat,
  readStreams,
  readTarget,
  type TargetInput,
  targetSettings,
  targetText,
} from "../../exports/destination.ts";
import type { OpenCarrier, PassResult } from "../../exports/exporter.ts";
import { type Progress, progressOf } from "../../exports/progress.ts";
import type { ExportStore, StreamState } from "../../exports/store.ts";
import { untilAborted } from "../../exports/until-aborted.ts";
import { type Audits, omit, type Unbound } from "../audit/author.ts";
import { toMoment } from "../input/values.ts";
import type { ExportStreamView, ExportsView, ExportView, RanView } from "./schemas.ts";

export interface NewExport extends TargetInput {
  readonly name: string;
  /** Adds a directory without testing it: it may be on another machine, or be mounted later. */
  readonly skip_test?: boolean | undefined;
  /** `receipts`, `audit` or both with a comma; absent: both. */
  readonly what?: string | undefined;
  readonly format?: string | undefined;
  /** Absent: everything that is kept. */
  readonly from?: string | undefined;
}

/**
 * For commands on this machine alone: no route leads here. A destination is a path that this process
 * writes to, or an address that it calls from inside the network.
 */
export interface ExportOperations {
  list(input: Record<never, never>): Promise<ExportsView>;
  show(input: { name: string }): Promise<ExportView>;
  add(input: NewExport): Promise<ExportView>;
  pause(input: { name: string }): Promise<ExportView>;
  resume(input: { name: string }): Promise<ExportView>;
  remove(input: { name: string }): Promise<ExportView>;
  /** Writes or sends something without rows. */
  test(input: { name: string }): Promise<ExportView>;
  /** Exports what is due now, without waiting for the next attempt. */
  run(input: { name: string }): Promise<RanView>;
}

export const exportAudits = {
  list: null,
  show: null,
  add: { action: "export.create", detail: (input) => omit(input, "name") },
  pause: { action: "export.pause" },
  resume: { action: "export.resume" },
  remove: { action: "export.remove" },
  test: null,
  run: null,
} satisfies Audits<ExportOperations>;

/** The exporter of this process. */
export interface RunningExports {
  /** How long after its end an hour is exported. */
  readonly lagMs: number;
  readonly openCarrier: OpenCarrier;
  /** Undefined when another pass is running. */
  runNow(name: string): Promise<PassResult | undefined>;
}

export interface ExportDependencies {
  readonly exports: ExportStore;
  readonly exporter: RunningExports;
  readonly checkAddress: CheckAddress;
  readonly clock: Clock;
  /** Resolves when all that was written survives a power cut. */
  readonly sync: () => Promise<void>;
}

const hourMs = 3_600_000;
const testMs = 30_000;

export function exportOperations(
  dependencies: ExportDependencies,
): Unbound<ExportOperations, typeof exportAudits> {
  const { exports: store, exporter, checkAddress, clock, sync } = dependencies;
  const find = async (name: string) => {
    const found = (await store.list()).find((one) => one.name === name);
    if (found !== undefined) return found;
    throw new Problem({
      code: "not_found",
      message: `Export "${name}" does not exist.`,
      command: "exports",
    });
  };
  const toViews = async (all: readonly Destination[]) => {
    const states = await store.states();
    const time = { lagMs: exporter.lagMs, nowMs: clock.nowMs() };
    return Promise.all(
      all.map(async (destination) => {
        const own = states.filter(({ destinationId }) => destinationId === destination.id);
        const streams = own.map(async (state) =>
          toStreamView(state, await progressOf(store, destination, state, time)),
        );
        return toView(destination, await Promise.all(streams));
      }),
    );
  };
  const view = async (name: string) => {
    const [shown] = await toViews([await find(name)]);
    if (shown === undefined) throw new Error("one export has one view");
    return shown;
  };
  return {
    async list() {
      return { exports: await toViews(await store.list()) };
    },
    show: ({ name }) => view(name),
    async add(input, { audit }) {
      const destination = readDestination(input, { checkAddress, nowMs: clock.nowMs() });
      const { name } = destination;
      if (destination.target.kind === "file" && input.skip_test !== true)
        await checkDirectory(exporter, destination);
      const added = await store.add(destination, audit({ subject: name }));
      if (added === "full")
        throw conflict({
          name: `There are ${mostDestinations} exports already. Remove one first.`,
        });
      if (!added) throw conflict({ name: `Export "${name}" exists already. Use another name.` });
      if (input.skip_test !== true) await tryTo("claim", exporter, destination);
      await sync();
      return view(name);
    },
    async pause({ name }, { audit }) {
      const { id } = await find(name);
      await store.setPaused(id, clock.nowMs(), audit({ subject: name }));
      await sync();
      return view(name);
    },
    async resume({ name }, { audit }) {
      const destination = await find(name);
      // One that was paused may have lost its volume since then: its next delivery looks for the marker.
      if (destination.pausedAtMs === undefined) await claim(exporter, destination);
      await store.setPaused(destination.id, undefined, audit({ subject: name }));
      await sync();
      return view(name);
    },
    async remove({ name }, { audit }) {
      const last = await view(name);
      const destination = await find(name);
      await store.remove(destination.id, audit({ subject: name }));
      await tryTo("release", exporter, destination);
      await sync();
      return last;
    },
    async test({ name }) {
      const destination = await find(name);
      const states = await store.states();
      const isNew = !states.some(
        ({ destinationId, rows }) => destinationId === destination.id && rows > 0,
      );
      await test(exporter, destination, isNew);
      return view(name);
    },
    async run({ name }) {
      const { pausedAtMs } = await find(name);
      if (pausedAtMs !== undefined)
        throw new Problem({
          code: "conflict",
          message: `Export "${name}" is paused.`,
          command: `exports resume ${name}`,
        });
      const result = await exporter.runNow(name);
      if (result === undefined)
        throw new Problem({
          code: "busy",
          message: "Exports are running. Try again in a minute.",
        });
      return { rows: result.rows.get(name) ?? 0, export: await view(name) };
    },
  };
}

function readDestination(
  input: NewExport,
  { checkAddress, nowMs }: { readonly checkAddress: CheckAddress; readonly nowMs: number },
): Destination {
  const { name, what, from } = input;
  const format = readFormat(input.format);
  const target = readTarget(input, checkAddress);
  if (format === "parquet" && target.kind === "http")
    throw invalid({ format: "format must be jsonl for an HTTP endpoint." });
  const fromMs = from === undefined ? 0 : toMoment(from, "from");
  return {
    id: newId("export", nowMs),
    name: checkName(name),
    streams: readStreams(what),
    format,
    target,
    fromMs: fromMs - (fromMs % hourMs),
    createdAtMs: nowMs,
    pausedAtMs: undefined,
  };
}

/** Does not create a missing directory: files would land in the mount point of an unmounted volume. */
const checkDirectory = (exporter: RunningExports, destination: Destination): Promise<void> =>
  tryOut(
    (signal) => exporter.openCarrier(destination, true).test(signal),
    (reason) => ({
      field: "to",
      message: `to must be a directory that the gateway can write to: ${reason}. Create it or change its owner; if it is on another machine or not mounted yet, add --no-test.`,
    }),
  );

const toProblemOf =
  ({ name }: Destination) =>
  (reason: string) => ({ message: `Export "${name}" does not work: ${reason}.` });

const test = (exporter: RunningExports, destination: Destination, isNew: boolean): Promise<void> =>
  tryOut(
    (signal) => exporter.openCarrier(destination, isNew).test(signal),
    toProblemOf(destination),
  );

/** Other kinds than files need secrets, which only the gateway may have. */
async function claim(exporter: RunningExports, destination: Destination): Promise<void> {
  if (destination.target.kind !== "file") return;
  await tryOut(
    async (signal) => exporter.openCarrier(destination, true).claim?.(signal),
    toProblemOf(destination),
  );
}

async function tryOut(
  work: (signal: AbortSignal) => Promise<void>,
  toProblem: (reason: string) => { readonly field?: string; readonly message: string },
): Promise<void> {
  try {
    const signal = AbortSignal.timeout(testMs);
    await untilAborted(work(signal), signal);
  } catch (cause) {
    if (!(cause instanceof DeliveryFailure)) throw cause;
    throw new Problem({ code: "test_failed", ...toProblem(cause.message), cause });
  }
}

/** The directory may be on another machine, or not be there: then a pass reports it. */
async function tryTo(
  what: "claim" | "release",
  exporter: RunningExports,
  destination: Destination,
): Promise<void> {
  // Others need secrets, which only the gateway may have.
  if (destination.target.kind !== "file") return;
  try {
    const signal = AbortSignal.timeout(testMs);
    const work = exporter.openCarrier(destination, true)[what]?.(signal);
    await untilAborted(work ?? Promise.resolve(), signal);
  } catch (error) {
    if (!(error instanceof DeliveryFailure)) throw error;
  }
}

function toView(destination: Destination, streams: readonly ExportStreamView[]): ExportView {
  const isFailing = streams.some(({ failure }) => failure !== null);
  const { name, format, target, fromMs, createdAtMs, pausedAtMs } = destination;
  return {
    name,
    state: pausedAtMs !== undefined ? "paused" : isFailing ? "failing" : "running",
    to: targetText(target),
    format,
    from: fromMs === 0 ? null : toDateText(fromMs),
    created_at: toDateText(createdAtMs),
    settings: targetSettings(target),
    streams: [...streams],
  };
}

function toStreamView(state: StreamState, { toMs, lagMs, aheadMs }: Progress): ExportStreamView {
  const { stream, rows, deliveredAtMs, failures, failure, retryAtMs } = state;
  return {
    stream,
    exported_to: toDateText(toMs),
    rows,
    lag_s: Math.floor(lagMs / 1000),
    ahead_s: Math.ceil(aheadMs / 1000),
    delivered_at: deliveredAtMs === undefined ? null : toDateText(deliveredAtMs),
    failures,
    failure: failure ?? null,
    retry_at: failure === undefined ? null : toDateText(retryAtMs),
  };
}
