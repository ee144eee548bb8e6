import { beforeEach, describe, expect, test } from "bun:test";
import { nextTurn } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { DeliveryFailure } from "../../src/exports/delivery-failure.ts";
import type { ExportStore } from "../../src/exports/store.ts";
import { hourMs } from "../../src/ledger/rollups.ts";
import { auditOf } from "./audit-sample.ts";
import { clockTests } from "./export-clock-contract.ts";
import { failureRunTests } from "./export-failures-contract.ts";
import {
  beganMs,
  bound,
  destinationOf,
  ExportHome,
  lagMs,
  minuteMs,
  partRows,
} from "./export-home.ts";
import { above2to53, type Opened, receiptOf, write } from "./ledger-samples.ts";

/** What exports rely on, whatever the database. */
export function exportTests(opened: () => Opened): void {
  describe("exports", () => {
    let home: ExportHome;
    beforeEach(async () => {
      home = new ExportHome(opened);
      await home.start();
    });
    hourTests(() => home);
    rowTests(() => home);
    lateTests(() => home);
    failureTests(() => home);
    pauseTests(() => home);
    failureRunTests(() => home);
    clockTests(() => home);
    nameTests(() => home);
    destinationTests(() => home);
  });
}

function hourTests(home: () => ExportHome): void {
  test("an hour is exported when none of its calls can still be running", async () => {
    const { shelf, receive, pass } = bound(home());
    const ids = await receive(beganMs + 59 * minuteMs);
    home().nowMs = beganMs + hourMs + lagMs - 1;
    expect(await pass()).toBe(0);
    // A call of that hour that took long.
    ids.push(...(await receive(beganMs + 58 * minuteMs)));
    home().nowMs++;
    expect(await pass()).toBe(2);
    expect(shelf.names()).toEqual(["receipts-2027-01-15T07-0001.jsonl.gz"]);
    expect(shelf.ids().toSorted()).toEqual(ids.toSorted());
    expect(await pass()).toBe(0);
  });

  test("large hours are split, empty ones skipped, and every row is in one file", async () => {
    const { shelf, receive, pass } = bound(home());
    const times = Array.from({ length: 7 }, (_, at) => beganMs + at);
    const ids = await receive(...times, beganMs + 3 * hourMs);
    home().nowMs = beganMs + 5 * hourMs;
    expect(await pass()).toBe(8);
    expect(shelf.names()).toEqual([
      "receipts-2027-01-15T07-0001.jsonl.gz",
      "receipts-2027-01-15T07-0002.jsonl.gz",
      "receipts-2027-01-15T07-0003.jsonl.gz",
      "receipts-2027-01-15T10-0001.jsonl.gz",
    ]);
    expect(shelf.ids()).toEqual(ids);
    expect((await home().state()).cursor.hourMs).toBe(beganMs + 4 * hourMs);
  });
}

function rowTests(home: () => ExportHome): void {
  test("amounts keep every digit", async () => {
    const { shelf, pass } = bound(home());
    const receipt = receiptOf({
      id: newId("req", beganMs),
      hold: above2to53,
      cost: above2to53,
      charged: 1n,
      vendorCost: undefined,
    });
    await home()
      .opened()
      .store.ledger.commit([write(receipt)]);
    home().nowMs = beganMs + 2 * hourMs;
    await pass();
    expect([...shelf.files.values()].flat()).toEqual([
      expect.objectContaining({
        version: 1,
        id: receipt.id,
        began_at: "2027-01-15T07:00:00Z",
        cost_usd: "9007199.254740993",
        charged_usd: "0.000000001",
        vendor_cost_usd: null,
      }),
    ]);
  });

  test("audit records are exported beside receipts", async () => {
    const { store, shelf, pass } = bound(home());
    const audit = destinationOf({ id: "export_2", name: "audit", streams: ["audit"] });
    const atMs = beganMs + 5;
    await store.add(audit, auditOf({ atMs, action: "export.create", detail: { n: 1 } }));
    for (let at = 0; at < 4; at++)
      await home()
        .opened()
        .store.audit.add(auditOf({ atMs: atMs + 1 + at }));
    home().nowMs = beganMs + 2 * hourMs;
    await pass();
    expect(shelf.names()).toContain("audit-2027-01-15T07-0002.jsonl.gz");
    const lines = [...shelf.files.values()].flat();
    expect(lines.slice(-5)[0]).toMatchObject({
      version: 1,
      at: "2027-01-15T07:00:00.005Z",
      actor_kind: "command",
      actor: "test",
      action: "export.create",
      detail: { n: 1 },
    });
  });
}

function lateTests(home: () => ExportHome): void {
  test("a receipt that is committed after its hour was exported is found and exported", async () => {
    const { shelf, receive, pass } = bound(home());
    const ids = await receive(beganMs + 1, beganMs + 2);
    home().nowMs = beganMs + 3 * hourMs;
    await pass();
    expect(shelf.ids()).toEqual(ids);
    // Its process stood still for hours, between its first receipt and this one.
    ids.push(...(await receive(beganMs + 3)));
    const exporter = home().exporter();
    expect(await pass(exporter)).toBe(3);
    expect(shelf.names()).toEqual(["receipts-2027-01-15T07-0001.jsonl.gz"]);
    expect(shelf.ids()).toEqual(ids);
    expect(await pass(exporter)).toBe(0);
  });

  test("so is one of an hour that had none", async () => {
    const { shelf, receive, pass } = bound(home());
    await receive(beganMs);
    home().nowMs = beganMs + 24 * hourMs;
    const exporter = home().exporter();
    await pass(exporter);
    const [late] = await receive(beganMs + 2 * hourMs);
    // Each pass compares some of the hours.
    for (let passes = 0; passes < 21; passes++) await pass(exporter);
    expect(shelf.files.get("receipts/2027-01-15/09/receipts-2027-01-15T09-0001.jsonl.gz")).toEqual([
      expect.objectContaining({ id: late }),
    ]);
    expect(shelf.deliveries).toBe(2);
  });

  test("what is left of an hour after retention does not replace the whole of it", async () => {
    const { shelf, store, receive, pass } = bound(home());
    await receive(beganMs, beganMs + 1);
    home().nowMs = beganMs + 3 * hourMs;
    await pass();
    const kept = { ...store, keptFromMs: async () => beganMs + 24 * hourMs };
    await receive(beganMs + 2);
    await pass(home().exporter(kept));
    expect(shelf.names()).toEqual([
      "receipts-2027-01-15T07-0001-late.jsonl.gz",
      "receipts-2027-01-15T07-0001.jsonl.gz",
    ]);
  });
}

function nameTests(home: () => ExportHome): void {
  test("what is there is not replaced by an hour that has fewer rows, now or later", async () => {
    const { shelf, receive, pass } = bound(home());
    const own = "receipts/2027-01-15/07/receipts-2027-01-15T07-0001.jsonl.gz";
    // As a gateway has left it whose backup was restored.
    const whole = ["a", "b", "c"].map((id) => ({ id }));
    shelf.files.set(own, whole);
    const ids = await receive(beganMs);
    home().nowMs = beganMs + 3 * hourMs;
    await pass();
    expect(shelf.files.get(own)).toBe(whole);
    expect(shelf.ids()).toEqual(["a", "b", "c", ...ids]);
    expect(home().lines).toEqual([expect.stringContaining("nothing was replaced")]);
    ids.push(...(await receive(beganMs + 1)));
    await pass();
    expect(shelf.files.get(own)).toBe(whole);
    expect(shelf.ids().slice(-2)).toEqual(ids);
    expect(shelf.names()).toHaveLength(3);
  });

  test("nor by one of an hour that took two passes, or comes after another hour", async () => {
    const { shelf, receive, pass } = bound(home());
    const place = "receipts/2027-01-15/07/receipts-2027-01-15T07";
    const whole = ["a", "b", "c"].map((id) => ({ id }));
    const taken = [
      `${place}-0001.jsonl.gz`,
      "receipts/2027-01-15/08/receipts-2027-01-15T08-0001.jsonl.gz",
    ];
    for (const path of taken) shelf.files.set(path, whole);
    const times = Array.from({ length: 5 }, (_, at) => beganMs + at);
    await receive(...times, beganMs + hourMs);
    home().nowMs = beganMs + 4 * hourMs;
    shelf.failsAt = 2;
    await pass();
    home().nowMs += minuteMs;
    await pass();
    await receive(beganMs + 6, beganMs + hourMs + 1);
    await pass();
    for (const path of taken) expect(shelf.files.get(path)).toBe(whole);
  });

  test("late rows replace what is there, also of an hour that took two passes", async () => {
    const { shelf, receive, pass } = bound(home());
    const ids = await receive(...Array.from({ length: 7 }, (_, at) => beganMs + at));
    home().nowMs = beganMs + 2 * hourMs;
    shelf.failsAt = 2;
    await pass();
    home().nowMs += minuteMs;
    await pass();
    ids.push(...(await receive(beganMs + 8)));
    home().lines.length = 0;
    await pass();
    expect(shelf.names()).toHaveLength(3);
    expect(shelf.ids()).toEqual(ids);
    expect(home().lines).toEqual([]);
  });

  test("an export that is added again replaces nothing", async () => {
    const { shelf, store, receive, pass } = bound(home());
    const ids = await receive(beganMs, beganMs + 1);
    home().nowMs = beganMs + 3 * hourMs;
    await pass();
    await store.remove("export_1", auditOf());
    await store.add(destinationOf({ id: "export_2" }), auditOf());
    // Stands for what is left.
    await receive(beganMs + 2);
    await pass();
    expect(shelf.names()).toHaveLength(2);
    expect(shelf.ids().slice(0, 2)).toEqual(ids);
  });
}

function failureTests(home: () => ExportHome): void {
  test("a part that was delivered before a crash is delivered again under its name", async () => {
    const { shelf, store, receive, pass } = bound(home());
    const ids = await receive(...Array.from({ length: 5 }, (_, at) => beganMs + at));
    home().nowMs = beganMs + 2 * hourMs;
    const crashing: ExportStore = {
      ...store,
      async advance(of, advance) {
        if (advance.rows > 0) throw new Error("the process is gone");
        return store.advance(of, advance);
      },
    };
    await pass(home().exporter(crashing));
    expect(shelf.ids()).toEqual(ids.slice(0, partRows));
    home().nowMs += 15 * minuteMs;
    await pass();
    expect(shelf.names()).toHaveLength(2);
    expect(shelf.ids()).toEqual(ids);
    expect(shelf.deliveries).toBe(3);
  });

  test("a cursor that another process has moved stays where it is", async () => {
    const { store } = bound(home());
    const state = await home().state();
    const to = { hourMs: beganMs, afterId: "", part: 1, hourRows: 0 };
    const advance = { from: state.cursor, to, rows: 0, atMs: 1 };
    expect(await store.advance(state, advance)).toBe(true);
    expect(await store.advance(state, { ...advance, rows: 7 })).toBe(false);
    expect(await home().state()).toMatchObject({ cursor: to, rows: 0 });
  });

  test("a delivery that hangs does not keep a pass from ending, and is not started twice", async () => {
    const { shelf, receive, pass } = bound(home());
    await receive(beganMs);
    home().nowMs = beganMs + 2 * hourMs;
    const { promise, resolve } = Promise.withResolvers<void>();
    shelf.hang = promise;
    const exporter = home().exporter();
    const ending = new AbortController();
    const passing = home().pass(exporter, ending);
    while (shelf.attempts === 0) await nextTurn();
    ending.abort();
    expect(await passing).toBe(0);
    expect(await pass(exporter)).toBe(0);
    expect(shelf.attempts).toBe(1);
    expect((await home().state()).failure).toBe("an earlier delivery hangs and has not ended yet");
    shelf.hang = undefined;
    resolve();
    await promise;
    await nextTurn();
    home().nowMs += 15 * minuteMs;
    expect(await pass(exporter)).toBe(1);
  });

  test("one pass runs at a time", async () => {
    const { store } = bound(home());
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = store.alone(() => promise);
    // Where the lock needs the database, it is there a moment later.
    while (await store.alone(async () => {}));
    expect(await store.alone(async () => {})).toBe(false);
    resolve();
    expect(await first).toBe(true);
    expect(await store.alone(async () => {})).toBe(true);
  });
}

function pauseTests(home: () => ExportHome): void {
  test("attempts pause longer and longer, and what works again goes on at once", async () => {
    const { shelf, receive, pass } = bound(home());
    await receive(beganMs);
    home().nowMs = beganMs + 2 * hourMs;
    shelf.failure = new DeliveryFailure("it returned 503");
    const pauses: number[] = [];
    for (let attempts = 0; attempts < 12; attempts++) {
      await pass();
      const { retryAtMs, failure, failuresInRow } = await home().state();
      expect([failure, failuresInRow]).toEqual(["it returned 503", attempts + 1]);
      pauses.push((retryAtMs - home().nowMs) / 1000);
      home().nowMs = retryAtMs - 1;
      await pass();
      home().nowMs++;
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900, 900]);
    shelf.failure = undefined;
    expect(await pass()).toBe(1);
    const state = await home().state();
    expect(state).toMatchObject({ failure: undefined, failuresInRow: 0, failures: 12, rows: 1 });
  });

  test("one that is refused for good waits long at once, and asks for no less than it was told", async () => {
    const { shelf, receive, pass } = bound(home());
    await receive(beganMs);
    home().nowMs = beganMs + 2 * hourMs;
    shelf.failure = new DeliveryFailure("it returned 403", { isFinal: true });
    await pass();
    expect((await home().state()).retryAtMs - home().nowMs).toBe(15 * minuteMs);
    home().nowMs += 15 * minuteMs;
    shelf.failure = new DeliveryFailure("it returned 429", { afterMs: 5 * minuteMs });
    await pass();
    expect((await home().state()).retryAtMs - home().nowMs).toBe(5 * minuteMs);
  });
}

function destinationTests(home: () => ExportHome): void {
  test("names are unique, and there are no more than eight", async () => {
    const { store } = bound(home());
    expect(await store.add(destinationOf({ id: "export_2" }), auditOf())).toBe(false);
    for (let at = 2; at <= 8; at++)
      expect(
        await store.add(destinationOf({ id: `export_${at}`, name: `n${at}` }), auditOf()),
      ).toBe(true);
    expect(await store.add(destinationOf({ id: "export_9", name: "n9" }), auditOf())).toBe("full");
    expect((await store.list()).at(-1)).toEqual(destinationOf());
  });

  test("one that is paused rests, and one that is removed is gone with its cursors", async () => {
    const { store, receive, pass } = bound(home());
    await receive(beganMs);
    home().nowMs = beganMs + 2 * hourMs;
    expect(await store.setPaused("export_1", 7, auditOf())).toBe(true);
    expect(await store.setPaused("export_1", 8, auditOf())).toBe(false);
    expect(await pass()).toBeUndefined();
    expect(await store.setPaused("export_1", undefined, auditOf())).toBe(true);
    expect(await pass()).toBe(1);
    expect(await store.hours(await home().state(), 0)).toHaveLength(1);
    const state = await home().state();
    expect(await store.remove("export_1", auditOf())).toBe(true);
    expect(await store.remove("export_1", auditOf())).toBe(false);
    expect([await store.list(), await store.states(), await store.hours(state, 0)]).toEqual([
      [],
      [],
      [],
    ]);
  });
}
