import { expect, test } from "bun:test";
import { newId } from "../base/ids.ts";
import { KeyUses } from "./uses.ts";

function begin() {
  const written = new Map<string, number>();
  const writes: number[] = [];
  const state = { isFailing: false, onWrite: () => {} };
  const uses = new KeyUses({
    lastUses: async () => new Map(written),
    async noteUses(told) {
      state.onWrite();
      if (state.isFailing) throw new Error("disk full");
      writes.push(told.size);
      for (const [id, ms] of told) written.set(id, Math.max(written.get(id) ?? 0, ms));
    },
  });
  return { uses, written, writes, state };
}

const requestAt = (ms: number) => newId("req", ms);

test("the newest call counts, in whatever order calls end", async () => {
  const { uses } = begin();
  uses.add("key_1", requestAt(2_000));
  uses.add("key_1", requestAt(1_000));
  uses.add("key_2", requestAt(1_500));
  expect(await uses.lastUses()).toEqual(
    new Map([
      ["key_1", 2_000],
      ["key_2", 1_500],
    ]),
  );
});

test("memory is shown over what is written, whichever is later", async () => {
  const { uses, written } = begin();
  written.set("key_1", 5_000).set("key_2", 1_000).set("key_3", 7);
  uses.add("key_1", requestAt(4_000));
  uses.add("key_2", requestAt(4_000));
  expect([...(await uses.lastUses())]).toEqual([
    ["key_1", 5_000],
    ["key_2", 4_000],
    ["key_3", 7],
  ]);
});

test("a flush writes each use once, in pieces, and nothing when there is nothing", async () => {
  const { uses, written, writes } = begin();
  for (let at = 0; at < 120; at++) uses.add(`key_${at}`, requestAt(at + 1));
  await uses.flush();
  expect(writes).toEqual([50, 50, 20]);
  expect(written.size).toBe(120);
  await uses.flush();
  expect(writes).toHaveLength(3);
});

test("what cannot be written is kept and written later", async () => {
  const { uses, written, state } = begin();
  uses.add("key_1", requestAt(1_000));
  state.isFailing = true;
  await expect(uses.flush()).rejects.toThrow("disk full");
  expect((await uses.lastUses()).get("key_1")).toBe(1_000);
  state.isFailing = false;
  await uses.flush();
  expect(written.get("key_1")).toBe(1_000);
});

test("a call that ends while a flush runs is not lost", async () => {
  const { uses, written, state } = begin();
  uses.add("key_1", requestAt(1_000));
  state.onWrite = () => uses.add("key_1", requestAt(2_000));
  await uses.flush();
  expect((await uses.lastUses()).get("key_1")).toBe(2_000);
  state.onWrite = () => {};
  await uses.flush();
  expect(written.get("key_1")).toBe(2_000);
});
