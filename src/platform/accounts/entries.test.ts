import { describe, expect, test } from "bun:test";
import { problemOf, useOperations } from "../../../test/setup/operations-home.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { newId } from "../../base/ids.ts";
import { Hold } from "../../ledger/purse.ts";
import { Purses } from "../../ledger/purses.ts";
import type { EntryKind } from "../../ledger/store.ts";

const usd = 1_000_000_000n;

let account: string;
const home = useOperations(async ({ operations }) => {
  account = (await operations.accounts.create({ name: "acme" })).id;
});

const enter = (kind: EntryKind, amount: string, reference?: string) =>
  home.operations.entries.add({
    account: "acme",
    kind,
    usd: amount,
    ...(reference === undefined ? {} : { reference }),
  });
const potOf = () => {
  const purse = home.purses.find(account);
  if (purse === undefined) throw new Error("no purse");
  return purse.pot;
};
const hold = (nano: bigint) => Hold.take(nano, potOf(), []);

describe("entries", () => {
  test("the same reference again is one credit; another amount or kind under it is refused", async () => {
    const first = await enter("credit", "12.5", "invoice 1");
    expect(first).toEqual({
      id: expect.stringMatching(/^entry_/),
      account,
      kind: "credit",
      amount_usd: "12.50",
      reference: "invoice 1",
      note: "",
      created_at: "2027-03-15T12:00:00Z",
      repeated: false,
      balance_usd: "12.50",
    });
    home.clock.ms += 60_000;
    expect(await enter("credit", "12.50", "invoice 1")).toEqual({ ...first, repeated: true });
    for (const [kind, amount] of [
      ["credit", "12.51"],
      ["refund", "12.5"],
      ["withdrawal", "12.5"],
    ] as const) {
      const { code, message } = await problemOf(enter(kind, amount, "invoice 1"));
      expect(code).toBe("conflict");
      expect(message).toContain("credit of 12.50 USD");
    }
    const { repeated: _, balance_usd: __, ...entry } = first;
    expect(await home.operations.entries.list({ account: "acme" })).toEqual([entry]);
    expect(potOf().limit).toBe(12_500_000_000n);
  });

  test("two that come at the same moment with one reference are one", async () => {
    const both = await Promise.all([enter("credit", "3", "r"), enter("credit", "3", "r")]);
    expect(both.map(({ repeated }) => repeated).sort()).toEqual([false, true]);
    expect((await home.operations.accounts.list({}))[0]?.balance_usd).toBe("3.00");
  });

  test("every digit counts, in and out, with a server and without one", async () => {
    await enter("credit", "0.000000001");
    await enter("refund", "999999.999999999");
    expect((await enter("withdrawal", "0.000000002")).balance_usd).toBe("999999.999999998");
    const entries = await home.alone.entries.list({ account });
    expect(entries.map(({ amount_usd }) => amount_usd)).toEqual([
      "0.000000001",
      "999999.999999999",
      "-0.000000002",
    ]);
    expect(new Set(entries.map(({ reference }) => reference)).size).toBe(3);
    expect((await home.alone.accounts.show({ account })).balance_usd).toBe("999999.999999998");
  });

  test("what is wrong is named before anything is written", async () => {
    for (const amount of ["", "-1", "+1", "1e3", "1,5", "1.0000000001", ".5", "0x10", "NaN"])
      expect(await problemOf(enter("credit", amount))).toEqual({
        code: "invalid",
        field: "usd",
        message: expect.stringMatching(/The amount must be a decimal number/),
      });
    expect((await problemOf(enter("credit", "0.000"))).message).toContain("greater than 0");
    const most = await problemOf(enter("credit", "1000000000.000000001"));
    expect(most).toEqual({
      code: "invalid",
      field: "usd",
      message: expect.stringContaining("1000000000.00"),
    });
    for (const reference of ["", " ", "x".repeat(201), "line\nbreak", "bell\u0007"])
      expect((await problemOf(enter("credit", "1", reference))).field).toBe("reference");
    const noted = home.operations.entries.add({
      account,
      kind: "credit",
      usd: "1",
      note: "n".repeat(501),
    });
    expect((await problemOf(noted)).field).toBe("note");
    expect(
      await problemOf(home.operations.entries.add({ account: "none", kind: "credit", usd: "1" })),
    ).toMatchObject({ code: "not_found", message: 'Unknown account "none".' });
    expect(await home.operations.entries.list({ account })).toEqual([]);
  });

  test("one is answered when the disk has confirmed it, and not when it has not", async () => {
    const written: number[] = [];
    const synced = home.on({
      sync: async () => {
        written.push((await home.store.ledger.entries(account)).length);
      },
    });
    await synced.entries.add({ account, kind: "credit", usd: "1" });
    expect(written).toEqual([1]);
    const failing = home.on({ sync: () => Promise.reject(new Error("disk gone")) });
    await expect(failing.entries.add({ account, kind: "credit", usd: "1" })).rejects.toThrow(
      "disk gone",
    );
  });

  test("an account can be given a billion and not a nano more", async () => {
    await enter("credit", "1000000000", "x".repeat(200));
    expect(await problemOf(enter("credit", "0.000000001"))).toEqual({
      code: "invalid",
      field: "usd",
      message: expect.stringContaining("must not exceed 1000000000.00 USD"),
    });
  });
});

describe("a withdrawal", () => {
  test("takes what is free to the last nano, and never what a call under way holds", async () => {
    await enter("credit", "10");
    const call = hold(4n * usd);
    expect(await problemOf(enter("withdrawal", "6.000000001"))).toEqual({
      code: "conflict",
      field: "usd",
      message: expect.stringMatching(/6\.00 USD available and 4\.00 USD held/),
    });
    expect((await enter("withdrawal", "6")).balance_usd).toBe("4.00");
    expect(potOf()).toMatchObject({ limit: 4n * usd, held: 4n * usd, spent: 0n });
    expect(call?.settle(5n * usd)).toBe(4n * usd);
    expect(potOf()).toMatchObject({ held: 0n, spent: 4n * usd, free: 0n });
  });

  test("never takes what was spent but is not written yet", async () => {
    await enter("credit", "10");
    hold(7n * usd)?.settle(7n * usd);
    expect((await problemOf(enter("withdrawal", "4"))).message).toContain("3.00 USD available");
    expect((await enter("withdrawal", "3")).balance_usd).toBe("0.00");
  });

  test("cannot be spent by a call that comes while it is written", async () => {
    await enter("credit", "10");
    const taken: (Hold | undefined)[] = [];
    const operations = home.on({
      ledger: {
        addEntry: (entry) => {
          taken.push(hold(3n * usd));
          return home.store.ledger.addEntry(entry, auditOf());
        },
      },
    });
    await operations.entries.add({ account, kind: "withdrawal", usd: "8" });
    expect(taken).toEqual([undefined]);
    expect(potOf()).toMatchObject({ limit: 2n * usd, held: 0n });
  });

  test("that fails to be written leaves nothing held", async () => {
    await enter("credit", "10");
    const operations = home.on({
      ledger: { addEntry: () => Promise.reject(new Error("disk full")) },
    });
    await expect(operations.entries.add({ account, kind: "withdrawal", usd: "8" })).rejects.toThrow(
      "disk full",
    );
    expect(potOf()).toMatchObject({ limit: 10n * usd, held: 0n });
  });

  test("that was made is told again, though nothing is left to take it from", async () => {
    await enter("credit", "10");
    await enter("withdrawal", "10", "out");
    expect(await enter("withdrawal", "10", "out")).toMatchObject({
      repeated: true,
      balance_usd: "0.00",
    });
    expect((await problemOf(enter("withdrawal", "10", "out 2"))).code).toBe("conflict");
  });

  test("without a server takes at most what is written as left, also right after a crash", async () => {
    await enter("credit", "10");
    // Never flushed: only the receipt itself says that it was spent.
    await home.receive({ accountId: account, keyId: "key_1", cost: 4n * usd, charged: 4n * usd });
    const withdraw = (amount: string) =>
      home.afterCrash((alone) => alone.entries.add({ account, kind: "withdrawal", usd: amount }));
    const balance = async () =>
      (await home.afterCrash((alone) => alone.accounts.list({})))[0]?.balance_usd;
    expect(await balance()).toBe("6.00");
    expect(await problemOf(withdraw("6.000000001"))).toEqual({
      code: "conflict",
      field: "usd",
      message: expect.stringContaining("6.00 USD available"),
    });
    expect((await withdraw("6")).balance_usd).toBe("0.00");
    expect(await balance()).toBe("0.00");
  });
});

describe("an account", () => {
  test("is suspended and resumed once, and says whether that changed it", async () => {
    const { operations, purses } = home;
    expect(await operations.accounts.suspend({ account: "acme" })).toMatchObject({
      status: "suspended",
      changed: true,
    });
    expect(purses.find(account)?.account.suspendedAtMs).toBe(home.clock.ms);
    expect((await operations.accounts.suspend({ account })).changed).toBe(false);
    expect((await operations.accounts.list({}))[0]?.status).toBe("suspended");
    expect(await operations.accounts.resume({ account })).toMatchObject({
      status: "active",
      changed: true,
    });
    expect((await operations.accounts.resume({ account })).changed).toBe(false);
    expect(purses.find(account)?.account.suspendedAtMs).toBeUndefined();
  });

  test("keeps both of two changes that come at the same moment", async () => {
    await Promise.all([
      home.operations.accounts.suspend({ account }),
      home.operations.accounts.setLimits({ account, rpm: "60" }),
      home.operations.accounts.setLimits({ account, tpm: "1000" }),
    ]);
    expect(await home.operations.accounts.show({ account })).toMatchObject({
      status: "suspended",
      limits: { rpm: "60", tpm: "1000" },
    });
  });
});

describe("limits", () => {
  test("are set, stay when not named, and go with none; for accounts and for keys", async () => {
    const { operations } = home;
    const key = await operations.keys.create({ account, concurrency: "2", budget: "5/day" });
    expect(key.limits).toEqual({ rpm: null, tpm: null, concurrency: "2", budget: "5.00/day" });
    const limitKey = (limits: object) => operations.keys.setLimits({ id: key.id, ...limits });
    expect((await limitKey({ rpm: "60", budget: "12.5/month" })).limits).toEqual({
      rpm: "60",
      tpm: null,
      concurrency: "2",
      budget: "12.50/month",
    });
    await limitKey({ rpm: "none", budget: "none" });
    await limitKey({ concurrency: "none" });
    expect((await home.store.keys.get(key.id))?.limits).toBeUndefined();

    const other = await operations.accounts.create({ name: "b", tpm: "1000000000", budget: "1" });
    expect(other.limits).toEqual({
      rpm: null,
      tpm: "1000000000",
      concurrency: null,
      budget: "1.00",
    });
    const after = await operations.accounts.setLimits({ account: "b", rpm: "1", budget: "none" });
    expect(after.limits).toEqual({ rpm: "1", tpm: "1000000000", concurrency: null, budget: null });
    expect(home.purses.find(other.id)?.account.limits).toMatchObject({ rpm: 1, tpm: 1e9 });
  });

  test("that are no limits are refused by their field", async () => {
    const { operations } = home;
    for (const text of ["0", "-1", "1.5", "1000000001", "many", "", "99999999999"])
      for (const name of ["rpm", "tpm", "concurrency"])
        expect(await problemOf(operations.accounts.setLimits({ account, [name]: text }))).toEqual({
          code: "invalid",
          field: name,
          message: expect.stringContaining("must be a whole number from 1"),
        });
    for (const budget of ["5/week", "5/day/day", "-5", "", "5/", "1.0000000001", "1000000001"])
      expect(await problemOf(operations.accounts.setLimits({ account, budget }))).toEqual({
        code: "invalid",
        field: "budget",
        message: expect.stringContaining("Budget must be an amount in USD"),
      });
    expect((await problemOf(operations.accounts.setLimits({ account }))).code).toBe("invalid");
    expect((await problemOf(operations.keys.create({ account, rpm: "0" }))).code).toBe("invalid");
    expect(await operations.keys.list({})).toEqual([]);
    expect((await problemOf(operations.keys.setLimits({ id: "key_none", rpm: "1" }))).code).toBe(
      "not_found",
    );
    const { id } = await operations.keys.create({ account });
    await operations.keys.revoke({ id });
    expect((await problemOf(operations.keys.setLimits({ id, rpm: "1" }))).code).toBe("conflict");
  });
});

describe("a budget", () => {
  const spentNow = async () =>
    (await home.operations.accounts.show({ account })).budget?.spent_usd ?? null;

  /** A call of the account that has been admitted. */
  const running = (nano: bigint) => {
    const purse = home.purses.find(account);
    if (purse === undefined) throw new Error("no account");
    const key = { id: "key_1" };
    const budgets = home.purses.budgetsOf({ purse, key, nowMs: home.clock.ms });
    const call = { id: newId("req", home.clock.ms), keyId: key.id, startedMs: home.clock.ms };
    return home.purses.take(nano, { ...call, purse, budgets });
  };

  test("begins with what was spent in its period already, by all keys or by the one", async () => {
    const { operations, purses, clock } = home;
    await enter("credit", "100");
    const key = await operations.keys.create({ account });
    const spend = async (moment: string, keyId: string, nano: bigint) => {
      clock.ms = Date.parse(moment);
      await home.receive({ accountId: account, keyId, cost: nano, charged: nano });
    };
    await spend("2027-03-15T12:30:00Z", key.id, 1n);
    await spend("2027-03-31T23:30:00Z", key.id, 20n);
    await spend("2027-04-01T00:30:00Z", key.id, 300n);
    await spend("2027-04-02T00:00:00Z", key.id, 4_000n);
    await spend("2027-04-02T05:00:00Z", "key_other", 50_000n);

    await operations.accounts.setLimits({ account, budget: "9/day" });
    expect(await spentNow()).toBe("0.000054");
    await operations.accounts.setLimits({ account, budget: "9/month" });
    expect(await spentNow()).toBe("0.0000543");
    const written = (await home.alone.accounts.show({ account })).budget;
    expect(written).toMatchObject({ period: "month", spent_usd: "0.0000543" });
    await operations.accounts.setLimits({ account, budget: "9" });
    expect(await spentNow()).toBe("0.000054321");

    await operations.keys.setLimits({ id: key.id, budget: "1/month" });
    const record = await home.store.keys.get(key.id);
    if (record === undefined) throw new Error("no key");
    expect(purses.budgetOf(key.id, record, clock.ms)?.spent).toBe(4_300n);

    const restarted = new Purses(home.store.accounts, home.store.ledger);
    await restarted.start(clock.ms);
    expect(restarted.budgetOf(key.id, record, clock.ms)?.spent).toBe(4_300n);
    expect((await home.alone.accounts.show({ account })).budget).toEqual({
      limit_usd: "9.00",
      period: "total",
      spent_usd: "0.000054321",
    });
  });

  test("of another sum for the same period keeps what is spent and held of it", async () => {
    await enter("credit", "100");
    await home.operations.accounts.setLimits({ account, budget: "5/day" });
    const call = running(2n * usd);
    await home.operations.accounts.setLimits({ account, budget: "3/day" });
    const pot = home.purses.budgetOf(account, {}, home.clock.ms);
    expect(pot).toMatchObject({ limit: 3n * usd, held: 2n * usd, free: 1n * usd });
    call?.settle(1n * usd);
    expect(await spentNow()).toBe("1.00");
  });

  test("that counts by another period counts what was spent and is held in it", async () => {
    await enter("credit", "100");
    await home.receive({ accountId: account, keyId: "key_1", cost: usd, charged: usd });
    home.clock.ms += 86_400_000;
    await home.operations.accounts.setLimits({ account, budget: "5/day" });
    running(2n * usd);
    await home.operations.accounts.setLimits({ account, budget: "5/month" });
    expect(await spentNow()).toBe("1.00");
    expect(home.purses.budgetOf(account, {}, home.clock.ms)?.free).toBe(2n * usd);
  });

  test("that could not be written changes nothing", async () => {
    await enter("credit", "100");
    await home.operations.accounts.setLimits({ account, budget: "5/day" });
    const broken = home.on({
      ledger: { setLimits: () => Promise.reject(new Error("the disk is full")) },
    });
    await expect(broken.accounts.setLimits({ account, budget: "3/month" })).rejects.toThrow();
    expect((await home.operations.accounts.show({ account })).budget).toMatchObject({
      limit_usd: "5.00",
      period: "day",
    });
  });

  test("that was taken away and given again counts what was spent in between", async () => {
    await enter("credit", "100");
    await home.operations.accounts.setLimits({ account, budget: "5/day" });
    await home.operations.accounts.setLimits({ account, budget: "none" });
    await home.receive({ accountId: account, keyId: "key_1", cost: usd, charged: usd });
    await home.operations.accounts.setLimits({ account, budget: "5/day" });
    expect(await spentNow()).toBe("1.00");
  });
});
