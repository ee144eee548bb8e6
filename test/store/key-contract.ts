import { expect, test } from "bun:test";
import type { KeyRecord } from "../../src/keys/directory.ts";
import type { SharedStore } from "../../src/store/store.ts";
import { auditOf } from "./audit-sample.ts";

const key: KeyRecord = {
  id: "key_1",
  accountId: "acct_1",
  name: "k",
  hash: "h1",
  hint: "sk-svc-…abcd",
  createdAtMs: 2,
  createdBy: "ada@example.com",
};

/** What of a key can be changed and changed back. */
export function keyTests(opened: () => { readonly store: SharedStore }): void {
  test("a key is paused and resumed, each once, and announced", async () => {
    const { keys, feed } = opened().store;
    await keys.insert(key, auditOf());
    const before = await feed.latest();
    expect(await keys.setPaused("key_1", undefined, auditOf())).toBe(false);
    expect(await keys.setPaused("key_1", 70, auditOf())).toBe(true);
    expect(await keys.setPaused("key_1", 80, auditOf())).toBe(false);
    expect(await keys.get("key_1")).toEqual({ ...key, pausedAtMs: 70 });
    expect(await keys.setPaused("key_1", undefined, auditOf())).toBe(true);
    expect(await keys.get("key_1")).toEqual(key);
    expect((await feed.since(before))?.map(({ subject }) => subject)).toEqual(["key_1", "key_1"]);
  });

  test("neither an unknown key nor a revoked one is paused", async () => {
    const { keys } = opened().store;
    await keys.insert(key, auditOf());
    await keys.revoke("key_1", 50, auditOf());
    for (const id of ["key_1", "key_9"])
      expect(await keys.setPaused(id, 70, auditOf())).toBe(false);
  });

  test("the expiration date is set, moved and taken away, and nothing else with it", async () => {
    const { keys } = opened().store;
    await keys.insert(key, auditOf());
    for (const expiresAtMs of [70, 90]) {
      expect(await keys.update("key_1", { expiresAtMs }, auditOf())).toBe(true);
      expect(await keys.get("key_1")).toEqual({ ...key, expiresAtMs });
    }
    await keys.update("key_1", { expiresAtMs: null }, auditOf());
    expect(await keys.get("key_1")).toEqual(key);
  });

  test("the lines of all live keys read as their records do, whatever is in them", async () => {
    const { keys } = opened().store;
    const odd: KeyRecord[] = [
      key,
      { ...key, id: "key_2", hash: "h2", name: 'a "quote",\na line\tand 🙂 \\', expiresAtMs: 9 },
      { ...key, id: "key_3", hash: "h3", models: new Set(["a", "ü"]), limits: { rpm: 3 } },
    ];
    for (const record of odd) await keys.insert(record, auditOf());
    await keys.insert({ ...key, id: "key_4", hash: "h4" }, auditOf());
    await keys.rotate("key_3", { hash: "h5", hint: "…5", previousUntilMs: 70 }, auditOf());
    await keys.setPaused("key_2", 60, auditOf());
    await keys.revoke("key_4", 50, auditOf());
    const lines: string[] = [];
    for await (const page of keys.pages()) lines.push(...Buffer.from(page).toString().split("\n"));
    const live = (await keys.all()).filter(({ revokedAtMs }) => revokedAtMs === undefined);
    expect(lines.map((line) => keys.fromLine(line))).toEqual(live);
    expect(lines.map((line) => line.slice(0, 21))).toEqual([
      '["h1","key_1",null,"a',
      '["h2","key_2",null,"a',
      '["h5","key_3","h3","a',
    ]);
    expect((await keys.revoked(9)).map(({ id }) => id)).toEqual(["key_4"]);
    expect(await keys.revoked(0)).toEqual([]);
  });
}
