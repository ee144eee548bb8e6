import { expect, test } from "bun:test";
import type { ExportStore, StreamState } from "../../src/exports/store.ts";
import { hourMs } from "../../src/ledger/rollups.ts";
import { noonMs } from "./ledger-samples.ts";

const beganMs = noonMs;

interface Home {
  readonly store: ExportStore;
  state(): Promise<StreamState>;
}

/** When the failures of an export began. */
export function failureRunTests(home: () => Home): void {
  test("a run of failures begins with the first one since it worked, or since it rested for a day", async () => {
    const { store } = home();
    const since = async () => (await home().state()).failingSinceMs;
    const fail = (atMs: number) =>
      store.fail(
        { destinationId: "export_1", stream: "receipts" },
        { failure: "it returned 503", atMs, retryAtMs: atMs + 10 },
      );
    expect(await since()).toBeUndefined();
    await fail(beganMs);
    await fail(beganMs + 24 * hourMs + 10);
    expect(await since()).toBe(beganMs);
    const { cursor } = await home().state();
    await store.advance(await home().state(), { from: cursor, to: cursor, rows: 0, atMs: 1 });
    expect(await since()).toBeUndefined();
    await fail(beganMs + 1);
    await store.setHour(
      await home().state(),
      { hourMs: beganMs, rows: 0, known: 0 },
      { rows: 0, atMs: 1 },
    );
    expect(await since()).toBeUndefined();
    await fail(beganMs + 2);
    await fail(beganMs + 24 * hourMs + 13);
    expect(await since()).toBe(beganMs + 24 * hourMs + 13);
  });
}
