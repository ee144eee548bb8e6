import { describe, expect, test } from "bun:test";
import {
  KeyDirectory,
  type KeyRecord,
  type KeyStore,
  maxTemporaryKeys,
  maxTemporaryKeysOfOwner,
  temporaryLifetimeMs,
} from "./directory.ts";
import { hashKeySecret, isWellFormed, keyHint, newKeySecret } from "./secret.ts";

const hashKey = new Uint8Array(32).fill(7);

test("makes secrets of the promised shape, all different", () => {
  const secrets = Array.from({ length: 500 }, newKeySecret);
  for (const secret of secrets) expect(secret).toMatch(/^sk-svc-[0-9A-Za-z]{46}$/);
  expect(new Set(secrets).size).toBe(500);
  expect(secrets.every(isWellFormed)).toBe(true);
});

test("uses all 62 characters about equally often", () => {
  const counts = new Map<string, number>();
  for (let made = 0; made < 2000; made++)
    for (const character of newKeySecret().slice(7, 47))
      counts.set(character, (counts.get(character) ?? 0) + 1);
  const expected = (2000 * 40) / 62;
  expect(counts.size).toBe(62);
  for (const count of counts.values())
    expect(Math.abs(count - expected)).toBeLessThan(expected * 0.2);
});

test("a key with any one character changed falls by its checksum", () => {
  const secret = newKeySecret();
  for (let at = 0; at < secret.length; at++) {
    const other = secret[at] === "a" ? "b" : "a";
    expect(isWellFormed(secret.slice(0, at) + other + secret.slice(at + 1))).toBe(false);
  }
  expect(isWellFormed(secret.slice(0, -1))).toBe(false);
  expect(isWellFormed(`${secret}a`)).toBe(false);
});

test("hashes are keyed and hints give nothing away", () => {
  const secret = newKeySecret();
  expect(hashKeySecret(secret, hashKey)).not.toBe(hashKeySecret(secret, new Uint8Array(32)));
  expect(keyHint(secret)).toHaveLength("sk-svc-…".length + 4);
});

const recordOf = (secret: string, rest: Partial<KeyRecord> = {}): KeyRecord => ({
  id: "key_1",
  accountId: "acct_1",
  name: "",
  hash: hashKeySecret(secret, hashKey),
  hint: keyHint(secret),
  createdAtMs: 0,
  ...rest,
});
const notHere = () => Promise.reject(new Error("not here"));

/** Counts what the directory asks of the store. */
function storeOf(records: KeyRecord[]): KeyStore & { reads: number } {
  const sent = new Map<string, KeyRecord>();
  return {
    reads: 0,
    all: notHere,
    async *pages() {
      this.reads++;
      for (const record of records.filter(({ revokedAtMs }) => revokedAtMs === undefined)) {
        const { hash, id, previous } = record;
        const line = JSON.stringify([hash, id, previous?.hash ?? null]);
        sent.set(line, record);
        yield Buffer.from(line);
      }
    },
    fromLine(line) {
      const record = sent.get(line);
      if (record === undefined) throw new Error("a line of no key");
      return record;
    },
    revoked: async () => records.filter(({ revokedAtMs }) => revokedAtMs !== undefined),
    async get(id) {
      this.reads++;
      return records.find((record) => record.id === id);
    },
    getMany: async (ids) => records.filter(({ id }) => ids.includes(id)),
    async *usableHashes() {
      yield records.flatMap(({ hash, revokedAtMs, pausedAtMs }) =>
        revokedAtMs === undefined && pausedAtMs === undefined ? [hash] : [],
      );
    },
    search: notHere,
    insert: notHere,
    update: notHere,
    rotate: notHere,
    setPaused: notHere,
    revoke: notHere,
    lastUses: notHere,
    names: notHere,
    noteUses: notHere,
  };
}

test("a flood of unknown keys asks the store for nothing", async () => {
  const secret = newKeySecret();
  const store = storeOf([recordOf(secret, { expiresAtMs: 1000 })]);
  const directory = new KeyDirectory(store, hashKey);
  await directory.reloadAll();
  for (let tries = 0; tries < 20_000; tries++)
    expect(directory.verify(newKeySecret(), 0)).toBeUndefined();
  expect(directory.verify(secret, 999)?.id).toBe("key_1");
  expect(directory.verify(secret, 1000)).toBeUndefined();
  expect(store.reads).toBe(1);
});

describe("while all keys are read again", () => {
  const secrets = Array.from({ length: 4 }, newKeySecret);
  const keyOf = (at: number, rest: Partial<KeyRecord> = {}) =>
    recordOf(secrets[at] ?? "", { id: `key_${at}`, ...rest });

  async function load(looked: boolean) {
    const records = secrets.map((_, at) => keyOf(at));
    const store = storeOf(records);
    const directory = new KeyDirectory(store, hashKey);
    await directory.reloadAll();
    // One is a record of its own, because it has changed since.
    await directory.reload(["key_3"]);
    const opened = () => secrets.map((one) => directory.verify(one, 1) !== undefined);
    if (looked) opened();
    return { records, store, directory, opened };
  }

  test.each([true, false])(
    "none opens anything that was revoked, paused or replaced (looked up before: %p)",
    async (looked) => {
      const { records, directory, opened } = await load(looked);
      records[0] = keyOf(0, { revokedAtMs: 5 });
      records[1] = keyOf(1, { pausedAtMs: 5 });
      records[3] = keyOf(3, { hash: "of another secret" });
      await directory.endUnusable(1);
      expect(opened()).toEqual([false, false, true, false]);
      await directory.reloadAll();
      // A pause is reported by what refuses the call.
      expect(opened()).toEqual([false, true, true, false]);
    },
  );

  test("what is read one by one meanwhile is newer", async () => {
    const { records, store, directory, opened } = await load(true);
    const { pages } = store;
    store.pages = async function* () {
      yield* pages.call(store);
      records[0] = keyOf(0, { revokedAtMs: 5 });
      records[3] = keyOf(3, { revokedAtMs: 5 });
      await directory.reload(["key_0", "key_3"]);
      expect(opened()).toEqual([false, true, true, false]);
    };
    await directory.reloadAll();
    expect(opened()).toEqual([false, true, true, false]);
  });

  test("what has ended after it was read stays ended", async () => {
    const { records, store, directory, opened } = await load(true);
    const { pages } = store;
    store.pages = async function* () {
      yield* pages.call(store);
      records[0] = keyOf(0, { revokedAtMs: 5 });
      await directory.endUnusable(1);
    };
    await directory.reloadAll();
    expect(opened()).toEqual([false, true, true, true]);
    store.pages = pages;
    await directory.reloadAll();
    expect(opened()).toEqual([false, true, true, true]);
  });
});

describe("a key whose secret was rotated", () => {
  const [before, now] = [newKeySecret(), newKeySecret()];
  const record = recordOf(now, {
    models: new Set(["m"]),
    limits: { rpm: 3 },
    previous: { hash: hashKeySecret(before, hashKey), hint: keyHint(before), expiresAtMs: 100 },
  });

  async function load(first: KeyRecord) {
    const records = [first];
    const directory = new KeyDirectory(storeOf(records), hashKey);
    await directory.reloadAll();
    const change = async (changed: KeyRecord) => {
      records[0] = changed;
      await directory.reload([changed.id]);
    };
    return { directory, change };
  }

  test("is opened by both secrets until the overlap ends, and by the new one after it", async () => {
    const { directory } = await load(record);
    const [old, fresh] = [directory.verify(before, 99), directory.verify(now, 99)];
    if (old === undefined || fresh === undefined) throw new Error("both must open it");
    for (const one of [old, fresh])
      expect(one).toMatchObject({ id: "key_1", limits: { rpm: 3 }, models: new Set(["m"]) });
    expect(directory.current(old, 99)).toBe(old);
    expect(directory.verify(before, 100)).toBeUndefined();
    expect(directory.current(old, 100)).toBeUndefined();
    expect(directory.verify(now, 100)).toBe(fresh);
    expect(directory.current(fresh, 100)).toBe(fresh);
  });

  test.each([
    ["later", 500, 100],
    ["earlier", 50, 50],
  ])("that expires %s itself ends with it", async (_, expiresAtMs, beforeEndsAtMs) => {
    const { directory } = await load({ ...record, expiresAtMs });
    for (const [secret, endMs] of [
      [before, beforeEndsAtMs],
      [now, expiresAtMs],
    ] as const) {
      expect(directory.verify(secret, endMs - 1)?.id).toBe("key_1");
      expect(directory.verify(secret, endMs)).toBeUndefined();
    }
  });

  test("that is revoked is opened by neither, and a request under way hears of it", async () => {
    const { directory, change } = await load(record);
    const old = directory.verify(before, 1);
    if (old === undefined) throw new Error("it must open it");
    await change({ ...record, revokedAtMs: 2 });
    for (const secret of [before, now]) expect(directory.verify(secret, 3)).toBeUndefined();
    expect(directory.current(old, 3)).toBeUndefined();
    expect(directory.has("key_1")).toBe(false);
  });

  test("tells its former secret of what is changed of it", async () => {
    const { directory, change } = await load(record);
    const old = directory.verify(before, 1);
    if (old === undefined) throw new Error("it must open it");
    await change({ ...record, limits: { rpm: 9 } });
    expect(directory.current(old, 3)?.limits).toEqual({ rpm: 9 });
  });
});

describe("a temporary key", () => {
  const open = () => {
    const directory = new KeyDirectory(storeOf([]), hashKey);
    const works = ({ key }: { readonly key: string }) => directory.verify(key, 0) !== undefined;
    return { directory, works };
  };

  test("is not asked of the store, and outlives its reload", async () => {
    const store = storeOf([]);
    const directory = new KeyDirectory(store, hashKey);
    const { key } = directory.issueTemporary("acct_1", 0);
    expect(store.reads).toBe(0);
    await directory.reloadAll();
    expect(directory.verify(key, 1)?.accountId).toBe("acct_1");
    expect(new KeyDirectory(store, hashKey).verify(key, 1)).toBeUndefined();
  });

  test("makes room by the oldest when there are as many as may be", () => {
    const { directory } = open();
    const issued = Array.from({ length: maxTemporaryKeys + 1 }, (_, at) =>
      directory.issueTemporary("acct_1", at),
    );
    const [first, ...others] = issued.map(({ key }) => directory.verify(key, maxTemporaryKeys));
    expect(first).toBeUndefined();
    expect(others.every((record) => record !== undefined)).toBe(true);
  });

  test("that has expired makes room before one that has not", () => {
    const directory = new KeyDirectory(storeOf([]), hashKey);
    const old = Array.from({ length: maxTemporaryKeys - 1 }, () =>
      directory.issueTemporary("acct_1", 0),
    );
    const live = directory.issueTemporary("acct_1", 1);
    const { key } = directory.issueTemporary("acct_1", temporaryLifetimeMs);
    expect(old.some((one) => directory.verify(one.key, 1) !== undefined)).toBe(false);
    for (const one of [live.key, key])
      expect(directory.verify(one, temporaryLifetimeMs)?.accountId).toBe("acct_1");
  });

  test("of one owner pushes out only the oldest of that owner and account", () => {
    const { directory, works } = open();
    const bob = directory.issueTemporary("acct_1", 0, "bob");
    const elsewhere = directory.issueTemporary("acct_2", 0, "ada");
    const adas = Array.from({ length: maxTemporaryKeys + 1 }, () =>
      directory.issueTemporary("acct_1", 0, "ada"),
    );
    expect([works(bob), works(elsewhere)]).toEqual([true, true]);
    expect(adas.map(works).lastIndexOf(false)).toBe(adas.length - maxTemporaryKeysOfOwner - 1);
    expect(adas.filter(works).length).toBe(maxTemporaryKeysOfOwner);
  });

  test("at the bound of all pushes out one of the owner who has most, never of one with fewer", () => {
    const { directory, works } = open();
    const bob = directory.issueTemporary("acct_1", 0, "bob");
    const issue = (owner: string, account: number) =>
      directory.issueTemporary(`acct_${account}`, 0, owner);
    const many = Array.from({ length: maxTemporaryKeys - 1 }, (_, at) => issue("eve", at));
    const newcomers = Array.from({ length: 10 }, (_, at) => issue(`newcomer ${at}`, 1));
    expect([bob, ...newcomers].every(works)).toBe(true);
    expect(many.filter(works).length).toBe(maxTemporaryKeys - 11);
    expect(many.slice(0, 10).some(works)).toBe(false);
    issue("eve", -1);
    expect([bob, ...newcomers].every(works)).toBe(true);
    expect(many.filter(works).length).toBe(maxTemporaryKeys - 12);
  });

  test("where all have as many, the newcomer's own goes first", () => {
    const { directory, works } = open();
    const issue = (at: number) => directory.issueTemporary("acct_1", 0, `owner ${at}`);
    const all = Array.from({ length: maxTemporaryKeys }, (_, at) => issue(at));
    issue(500);
    expect(all.map(works).indexOf(false)).toBe(500);
    expect(all.filter(works).length).toBe(maxTemporaryKeys - 1);
  });
});
