import { expect, test } from "bun:test";
import { mostKnownHours, startOf } from "../../src/exports/progress.ts";
import { dayMs, hourMs } from "../../src/ledger/rollups.ts";
import { auditOf } from "./audit-sample.ts";
import { beganMs, bound, destinationOf, type ExportHome, minuteMs } from "./export-home.ts";

/** What becomes of an export when the clock was wrong for a while. */
export function clockTests(home: () => ExportHome): void {
  cursorTests(home);
  behindTests(home);
  timeTests(home);
}

function cursorTests(home: () => ExportHome): void {
  test("a clock that was ahead without calls moves no cursor", async () => {
    const { shelf, receive, pass } = bound(home());
    const ids = await receive(beganMs);
    home().nowMs = beganMs + 2 * hourMs;
    await pass();
    home().nowMs += 400 * dayMs;
    await pass();
    home().nowMs -= 400 * dayMs;
    ids.push(...(await receive(home().nowMs)));
    home().nowMs += 2 * hourMs;
    expect(await pass()).toBe(1);
    expect(shelf.ids()).toEqual(ids);
    expect(home().lines).toEqual([]);
  });

  test("after calls of a clock that was ahead, the export continues where it was, and says so", async () => {
    const { shelf, receive, pass } = bound(home());
    await receive(beganMs);
    home().nowMs = beganMs + 2 * hourMs;
    await pass();
    const [early] = await receive(home().nowMs + 30 * dayMs);
    home().nowMs += 30 * dayMs + 3 * hourMs;
    await pass();
    home().nowMs -= 30 * dayMs + 3 * hourMs;
    const { cursor } = await home().state();
    expect(cursor.hourMs).toBeGreaterThan(home().nowMs);
    const [right] = await receive(home().nowMs);
    home().nowMs += 2 * hourMs;
    const exporter = home().exporter();
    expect(await pass(exporter)).toBe(1);
    expect(shelf.ids()).toContain(right);
    expect(home().lines).toEqual([expect.stringContaining("the clock was ahead")]);
    const { cursor: after } = await home().state();
    expect(after).toEqual(startOf(beganMs + 3 * hourMs));
    await pass(exporter);
    expect(home().lines).toHaveLength(1);
    // Its hour comes, and gets another call.
    const [late] = await receive(beganMs + 2 * hourMs + 30 * dayMs + 1);
    home().nowMs = beganMs + 30 * dayMs + 4 * hourMs;
    await pass(exporter);
    expect(shelf.ids()).toEqual(expect.arrayContaining([early, late, right]));
    expect(new Set(shelf.ids()).size).toBe(shelf.ids().length);
  });

  test("an hour that was exported before it was over is completed under its name", async () => {
    const { shelf, receive, pass } = bound(home());
    const ids = await receive(beganMs);
    home().nowMs = beganMs + 3 * hourMs;
    await pass();
    home().nowMs = beganMs + 30 * minuteMs;
    ids.push(...(await receive(beganMs + 31 * minuteMs)));
    expect(await pass()).toBe(0);
    home().nowMs = beganMs + 2 * hourMs;
    await pass();
    expect(shelf.names()).toEqual(["receipts-2027-01-15T07-0001.jsonl.gz"]);
    expect(shelf.ids()).toEqual(ids);
  });
}

function behindTests(home: () => ExportHome): void {
  const hours = (count: number) => Array.from({ length: count }, (_, at) => beganMs + at * hourMs);

  test("a call of a clock that is behind is exported, and nothing before or after it again", async () => {
    const { shelf, receive, pass } = bound(home());
    const ids = await receive(...hours(10));
    home().nowMs = beganMs + 12 * hourMs;
    await pass();
    home().nowMs -= 400 * dayMs;
    ids.push(...(await receive(home().nowMs)));
    home().nowMs += 2 * hourMs;
    expect(await pass()).toBe(1);
    expect(home().lines).toEqual([expect.stringContaining("or is behind now")]);
    home().nowMs += 400 * dayMs;
    ids.push(...(await receive(home().nowMs, beganMs + 9 * hourMs + 1)));
    home().nowMs += 2 * hourMs;
    // The hour that has one more, and the new one.
    expect(await pass()).toBe(3);
    expect(shelf.deliveries).toBe(13);
    expect(shelf.ids().toSorted()).toEqual(ids.toSorted());
    expect((await home().state()).cursor.hourMs).toBe(beganMs + 15 * hourMs);
  });

  test("an export that has forgotten hours waits while the clock is behind, and says so once", async () => {
    const { shelf, store, receive, pass } = bound(home());
    const [last = 0, ...before] = hours(mostKnownHours + 1).toReversed();
    const of = await home().state();
    for (const ofMs of before)
      await store.setHour(of, { hourMs: ofMs, rows: 1, known: 1 }, { rows: 1, atMs: ofMs });
    await receive(last);
    home().nowMs = last + 2 * hourMs;
    expect(await pass()).toBe(1);
    expect(await store.hours(of, 0)).toHaveLength(mostKnownHours);
    const { cursor } = await home().state();
    home().nowMs -= 400 * dayMs;
    const [old] = await receive(home().nowMs);
    home().nowMs += 2 * hourMs;
    const exporter = home().exporter();
    expect([await pass(exporter), await pass(exporter)]).toEqual([0, 0]);
    expect((await home().state()).cursor).toEqual(cursor);
    expect(home().lines).toEqual([
      expect.stringMatching(/the clock is behind.*"waits_until":"2027-01-15T09:16:00Z"/),
    ]);
    home().nowMs += 400 * dayMs;
    const [right] = await receive(last + hourMs);
    expect(await pass(exporter)).toBe(1);
    expect(shelf.deliveries).toBe(2);
    expect(shelf.ids()).toContain(right);
    expect(shelf.ids()).not.toContain(old);
  });
}

function timeTests(home: () => ExportHome): void {
  test("an export that begins at a later date is not taken for one of a wrong clock", async () => {
    const { store, receive, pass } = bound(home());
    await store.remove("export_1", auditOf());
    await store.add(destinationOf({ fromMs: beganMs + 24 * hourMs }), auditOf());
    await receive(beganMs, beganMs + 25 * hourMs);
    home().nowMs = beganMs + 3 * hourMs;
    expect(await pass()).toBe(0);
    expect(home().lines).toEqual([]);
    home().nowMs = beganMs + 27 * hourMs;
    expect(await pass()).toBe(1);
  });

  test("an attempt is not put off to a time that no pause reaches", async () => {
    const { store, receive, pass } = bound(home());
    await receive(beganMs);
    home().nowMs = beganMs + 2 * hourMs;
    const of = { destinationId: "export_1", stream: "receipts" } as const;
    const failure = { failure: "it returned 503", atMs: home().nowMs + 30 * dayMs };
    await store.fail(of, { ...failure, retryAtMs: failure.atMs + 5_000 });
    expect(await pass()).toBe(1);
    await store.fail(of, { ...failure, retryAtMs: failure.atMs + 5_000 });
    await store.fail(of, { ...failure, atMs: home().nowMs, retryAtMs: home().nowMs });
    expect((await home().state()).failingSinceMs).toBe(home().nowMs);
  });

  test("only the newest hours are kept, by their number", async () => {
    const { store } = bound(home());
    const state = await home().state();
    for (let at = 0; at < 5; at++) {
      const hour = { hourMs: beganMs + at * hourMs, rows: 1, known: 1 };
      await store.setHour(state, hour, { rows: 1, atMs: 1 });
    }
    await store.forgetHours(state, 6);
    expect(await store.hours(state, 0)).toHaveLength(5);
    await store.forgetHours({ ...state, destinationId: "export_2" }, 1);
    await store.forgetHours(state, 2);
    expect((await store.hours(state, 0)).map((hour) => hour.hourMs).toSorted()).toEqual([
      beganMs + 3 * hourMs,
      beganMs + 4 * hourMs,
    ]);
  });
}
