import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { useFolder } from "../../test/setup/folder.ts";
import { waitUntil } from "../../test/setup/money-home.ts";
import { auditOf } from "../../test/store/audit-sample.ts";
import { entryOf, noonMs, receiptOf, startSums, write } from "../../test/store/ledger-samples.ts";
import { sealedOf } from "../../test/store/response-samples.ts";
import { newId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { loadConfiguration } from "../config/load.ts";
import { startOf } from "../exports/progress.ts";
import { dayMs } from "../ledger/rollups.ts";
import { runRetention, startRetention, sweepResponses } from "./retention.ts";
import { openStore, withLedger } from "./store.ts";

const root = useFolder();

test("old receipts are exported and deleted, and none that cannot be exported", async () => {
  const dir = join(root, "archive");
  const configuration = loadConfiguration({
    SVC_DATA_DIR: join(root, "data"),
    SVC_CONFIG: "",
    SVC_RECEIPTS_DAYS: "30",
    SVC_RECEIPTS_EXPORT_DIR: dir,
  });
  const { store, close } = await openStore(configuration);
  const lines: string[] = [];
  const log = createLog({ level: "error", pretty: false, write: (line) => lines.push(line) });
  const clock = { nowMs: () => noonMs };
  const apply = () => runRetention({ configuration, store, clock, log });
  const ids = () =>
    withLedger(configuration, async (ledger) =>
      (await Array.fromAsync(ledger.receipts({}))).map(({ id }) => id),
    );
  try {
    await store.accounts.insert({ id: "acct_1", name: "acme", createdAtMs: 1 }, auditOf());
    await store.ledger.addEntry(entryOf(), auditOf());
    const rollups = await startSums(store.ledger, noonMs - 50 * dayMs);
    const [old, fresh] = [40, 1].map((age) =>
      receiptOf({ id: newId("req", noonMs - age * dayMs) }),
    );
    if (old === undefined || fresh === undefined) throw new Error("there are two");
    await store.ledger.commit([write(old), write(fresh)]);
    await rollups.flush(noonMs);
    // In the place of the directory: nothing can be written.
    writeFileSync(dir, "");
    await apply();
    expect(lines.join()).toContain("cannot export old receipts");
    expect(await ids()).toEqual([fresh.id, old.id]);
    rmSync(dir);
    await apply();
    expect(await ids()).toEqual([fresh.id]);
    expect(readdirSync(dir)).toEqual(["receipts-2026-12-06.csv"]);
    expect(readFileSync(join(dir, "receipts-2026-12-06.csv"), "utf8")).toContain(old.id);
  } finally {
    await close();
  }
});

test("responses that have expired are deleted, also where storing is off and exports fail", async () => {
  const dir = join(root, "no-directory");
  writeFileSync(dir, "");
  const configuration = loadConfiguration({
    SVC_DATA_DIR: join(root, "responses"),
    SVC_CONFIG: "",
    SVC_RECEIPTS_DAYS: "30",
    SVC_RECEIPTS_EXPORT_DIR: dir,
  });
  expect(configuration.settings.storeResponses).toBe("off");
  const { store, close } = await openStore(configuration);
  const log = createLog({ level: "error", pretty: false, write: () => {} });
  let nowMs = noonMs;
  const clock = { nowMs: () => nowMs };
  try {
    await store.accounts.insert({ id: "acct_1", name: "acme", createdAtMs: 1 }, auditOf());
    for (const [at, days] of [1, 2, 3].entries()) {
      const expiresAtMs = noonMs + days * dayMs;
      await store.responses.save(sealedOf({ id: `resp_${at}`, expiresAtMs }), 1_000);
    }
    const count = async () => (await store.responses.totals("acct_1")).responses;
    await sweepResponses({ store, clock });
    expect(await count()).toBe(3);
    nowMs += dayMs;
    await sweepResponses({ store, clock });
    expect(await count()).toBe(2);
    await sweepResponses(
      { store, clock: { nowMs: () => noonMs + 9 * dayMs } },
      AbortSignal.abort(),
    );
    expect(await count()).toBe(2);
    nowMs += 9 * dayMs;
    const job = startRetention({ configuration, store, clock, log });
    await waitUntil("the sweep of a start", async () => (await count()) === 0);
    await job.close();
  } finally {
    await close();
  }
});

describe("receipts that an export has not delivered", () => {
  const of = { destinationId: "export_1", stream: "receipts" } as const;
  let closing = async () => {};
  afterEach(() => closing());
  /** An export that began long ago, and one receipt that is ten days older than it may get. */
  async function startHeld(name: string) {
    const configuration = loadConfiguration({
      SVC_DATA_DIR: join(root, name),
      SVC_CONFIG: "",
      SVC_RECEIPTS_DAYS: "30",
    });
    const { store, close } = await openStore(configuration);
    const lines: string[] = [];
    const log = createLog({ level: "warn", pretty: false, write: (line) => lines.push(line) });
    const clock = { ms: noonMs, nowMs: () => clock.ms };
    await store.accounts.insert({ id: "acct_1", name: "acme", createdAtMs: 1 }, auditOf());
    await store.ledger.addEntry(entryOf(), auditOf());
    const rollups = await startSums(store.ledger, noonMs - 50 * dayMs);
    await store.ledger.commit([write(receiptOf({ id: newId("req", noonMs - 40 * dayMs) }))]);
    await rollups.flush(noonMs);
    await store.exports.add(
      {
        id: of.destinationId,
        name: "lake",
        streams: [of.stream],
        format: "jsonl",
        target: { kind: "file", dir: "/nowhere" },
        fromMs: 0,
        createdAtMs: noonMs - 60 * dayMs,
        pausedAtMs: undefined,
      },
      auditOf(),
    );
    const fail = () =>
      store.exports.fail(of, {
        failure: "it returned 500",
        atMs: clock.ms,
        retryAtMs: clock.ms + 900_000,
      });
    const work = async (rows: number) => {
      const [state] = await store.exports.states();
      if (state === undefined) throw new Error("there is a stream");
      const { cursor } = state;
      await store.exports.advance(of, { from: cursor, to: cursor, rows, atMs: clock.ms });
    };
    const move = async (toMs: number) => {
      const [state] = await store.exports.states();
      if (state === undefined) throw new Error("there is a stream");
      const advance = { from: state.cursor, to: startOf(toMs), rows: 0, atMs: clock.ms };
      await store.exports.advance(of, advance);
    };
    const failFor = async (days: number) => {
      for (let half = 0; half < 2 * days; half++) {
        await fail();
        clock.ms += dayMs / 2;
      }
      await fail();
    };
    const left = async () => {
      await runRetention({ configuration, store, clock, log });
      return withLedger(
        configuration,
        async (ledger) => (await Array.fromAsync(ledger.receipts({}))).length,
      );
    };
    closing = close;
    return { clock, lines, fail, failFor, work, move, left };
  }

  test("are kept for seven days of failures, and no longer", async () => {
    const { clock, lines, failFor, left } = await startHeld("held");
    await failFor(7);
    expect([await left(), lines.join()]).toEqual([1, expect.stringContaining("are kept until")]);
    clock.ms++;
    expect([await left(), lines.join()]).toEqual([
      0,
      expect.stringContaining("failed to deliver for seven days"),
    ]);
  });

  test("are kept after a first failure, however long nothing was to be delivered", async () => {
    const { clock, lines, fail, work, left } = await startHeld("idle");
    clock.ms -= 30 * dayMs;
    await work(7);
    clock.ms += 30 * dayMs;
    await fail();
    expect([await left(), lines.join()]).toEqual([1, expect.stringContaining("are kept until")]);
  });

  test("are kept when a pass worked between failures, also an empty one", async () => {
    const { failFor, work, left } = await startHeld("between");
    await failFor(6);
    await work(0);
    await failFor(6);
    expect(await left()).toBe(1);
  });

  test("are kept when a clock that was ahead has moved the export into the future", async () => {
    const { move, lines, left } = await startHeld("ahead");
    await move(noonMs + 400 * dayMs);
    expect([await left(), lines.join()]).toEqual([1, expect.stringContaining("are kept until")]);
    await move(noonMs);
    expect(await left()).toBe(0);
  });

  test("are kept when the process was off for days, whether it had failed or not", async () => {
    const { clock, fail, left } = await startHeld("off");
    clock.ms += 8 * dayMs;
    expect(await left()).toBe(1);
    await fail();
    clock.ms += 8 * dayMs;
    expect(await left()).toBe(1);
    await fail();
    expect(await left()).toBe(1);
  });
});
