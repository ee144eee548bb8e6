import { describe, expect, test } from "bun:test";
import {
  KeyDirectory,
  type KeyRecord,
  type KeyStore,
  maxTemporaryKeys,
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

/** Counts what the directory asks of the store. */
function storeOf(records: KeyRecord[]): KeyStore & { reads: number } {
  return {
    reads: 0,
    async all() {
      this.reads++;
      return records;
    },
    async get(id) {
      this.reads++;
      return records.find((record) => record.id === id);
    },
    insert: () => Promise.reject(new Error("not here")),
    setLimits: () => Promise.reject(new Error("not here")),
    revoke: () => Promise.reject(new Error("not here")),
  };
}

test("a flood of unknown keys asks the store for nothing", async () => {
  const secret = newKeySecret();
  const record: KeyRecord = {
    id: "key_1",
    accountId: "acct_1",
    name: "",
    hash: hashKeySecret(secret, hashKey),
    hint: "",
    createdAtMs: 0,
    expiresAtMs: 1000,
  };
  const store = storeOf([record]);
  const directory = new KeyDirectory(store, hashKey);
  await directory.reloadAll();
  for (let tries = 0; tries < 20_000; tries++)
    expect(directory.verify(newKeySecret(), 0)).toBeUndefined();
  expect(directory.verify(secret, 999)?.id).toBe("key_1");
  expect(directory.verify(secret, 1000)).toBeUndefined();
  expect(store.reads).toBe(1);
});

test("a revoked key is gone after its reload", async () => {
  const secret = newKeySecret();
  const record: KeyRecord = {
    id: "key_1",
    accountId: "acct_1",
    name: "",
    hash: hashKeySecret(secret, hashKey),
    hint: "",
    createdAtMs: 0,
  };
  const records = [record];
  const directory = new KeyDirectory(storeOf(records), hashKey);
  await directory.reloadAll();
  records[0] = { ...record, revokedAtMs: 5 };
  expect(directory.verify(secret, 9)?.id).toBe("key_1");
  await directory.reload("key_1");
  expect(directory.verify(secret, 9)).toBeUndefined();
});

describe("a temporary key", () => {
  test("is a key like any other, for every model, until its time is up", () => {
    const directory = new KeyDirectory(storeOf([]), hashKey);
    const { key, expiresAtMs } = directory.issueTemporary("acct_1", 1000);
    expect(isWellFormed(key)).toBe(true);
    expect(expiresAtMs).toBe(1000 + temporaryLifetimeMs);
    expect(directory.verify(key, expiresAtMs - 1)).toMatchObject({
      id: expect.stringMatching(/^key_/),
      accountId: "acct_1",
      name: "temporary",
    });
    expect(directory.verify(key, expiresAtMs - 1)?.models).toBeUndefined();
    expect(directory.verify(key, expiresAtMs)).toBeUndefined();
  });

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
    const directory = new KeyDirectory(storeOf([]), hashKey);
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
});
