import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  type OperationsHome,
  openOperations,
  problemOf,
} from "../../../test/setup/operations-home.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { Mutex } from "../../base/mutex.ts";
import { Minutes } from "../../ledger/minutes.ts";
import { modelOperations } from "./lifecycle.ts";

let home: OperationsHome;
let account: string;

beforeEach(async () => {
  home = await openOperations();
  account = (await home.operations.accounts.create({ name: "acme" })).id;
  const model = (id: string) => ({
    id,
    endpoint: "chat" as const,
    input: "text" as const,
    ownedBy: "svc",
    createdAtMs: 1,
    prices: [],
    routes: [{ provider: "engine", model: id, weight: 1 }],
    lifecycle: {},
  });
  await home.store.catalog.write(
    {
      atMs: 1,
      saveModels: [model("old"), model("new")],
      addPrices: ["old", "new"].map((modelId) => ({
        modelId,
        effectiveAtMs: 1,
        createdAtMs: 1,
        price: { input: 1n, output: 1n },
      })),
    },
    auditOf(),
  );
});
afterEach(() => home.remove());

const deprecate = (id: string) =>
  home.operations.models.deprecate({ id, retires: "2999-01-31", replacement: "new" });
const callWith = (keyId: string, model = "old", accountId = account) =>
  home.receive({ accountId, keyId, model });

/** The same where sums are read by a thread, as beside a running server. */
async function askThread() {
  const { store, purses, sums } = home;
  const nowMs = () => home.clock.ms;
  const flushRollups = async () => void (await home.operations.accounts.show({ account }));
  const clock = { nowMs };
  const reports = store.openReports({ clock, flush: flushRollups, minutes: new Minutes() });
  const money = { purses, sums, flushRollups, reports };
  const takeEffect = async () => {};
  const isUsable = () => true;
  const operations = modelOperations({
    ...store,
    clock,
    takeEffect,
    money,
    isUsable,
    mutex: new Mutex(),
  });
  return await operations.callers({}).finally(() => reports.close());
}

test("who still calls a deprecated model is told by key, the last caller first", async () => {
  const { operations, clock } = home;
  const other = (await operations.accounts.create({ name: "other" })).id;
  const [ci, laptop, theirs] = await Promise.all([
    operations.keys.create({ account, name: "ci" }),
    operations.keys.create({ account, name: "laptop" }),
    operations.keys.create({ account: other, name: "app" }),
  ]);
  await callWith(ci.id);
  clock.ms = Date.parse("2027-03-20T15:30:00Z");
  await deprecate("old");
  await callWith(ci.id);
  await callWith(ci.id, "new");
  await callWith("key_temporary");
  clock.ms = Date.parse("2027-03-22T01:00:00Z");
  for (let count = 0; count < 3; count++) await callWith(theirs.id, "old", other);
  clock.ms = Date.parse("2027-03-23T23:59:00Z");
  await callWith(laptop.id);
  await callWith(ci.id);
  await callWith(ci.id);

  const of = (id: string, name: string) => ({ account: id, account_name: name });
  const acme = of(account, "acme");
  expect(await operations.models.callers({})).toEqual([
    {
      model: "old",
      status: "deprecated",
      deprecated_at: "2027-03-20T15:30:00Z",
      retires_at: "2999-01-31T00:00:00Z",
      replacement: "new",
      receipts: 8,
      callers: [
        { ...acme, key: ci.id, key_name: "ci", receipts: 3, last_day: "2027-03-23" },
        { ...acme, key: laptop.id, key_name: "laptop", receipts: 1, last_day: "2027-03-23" },
        {
          ...of(other, "other"),
          key: theirs.id,
          key_name: "app",
          receipts: 3,
          last_day: "2027-03-22",
        },
        { ...acme, key: null, key_name: null, receipts: 1, last_day: "2027-03-20" },
      ],
    },
  ]);
  const told = await operations.models.callers({});
  expect(await home.alone.models.callers({ model: "old" })).toEqual(told);
  expect(await askThread()).toEqual(told);
});

test("calls of the hours before it was deprecated do not count", async () => {
  await callWith("key_1");
  home.clock.ms += 3_600_000;
  await deprecate("old");
  expect(await home.operations.models.callers({ model: "old" })).toMatchObject([
    { receipts: 0, callers: [] },
  ]);
});

test("a model that is active has no such callers, and one that is not there is refused", async () => {
  await callWith("key_1", "new");
  expect(await home.operations.models.callers({ model: "new" })).toMatchObject([
    { model: "new", status: "active", deprecated_at: null, receipts: 0, callers: [] },
  ]);
  expect(await home.operations.models.callers({})).toEqual([]);
  expect((await problemOf(home.operations.models.callers({ model: "none" }))).code).toBe(
    "not_found",
  );
});

test("a model that is retired is told with those who called it until then", async () => {
  const { id } = await home.operations.keys.create({ account });
  await deprecate("old");
  await callWith(id);
  await home.operations.models.retire({ id: "old" });
  expect(await home.operations.models.callers({})).toMatchObject([
    { model: "old", status: "retired", callers: [{ key: id, receipts: 1 }] },
  ]);
});

test("every key is told, also where there are more than a chart would show", async () => {
  await deprecate("old");
  const keys = [];
  for (let count = 0; count < 25; count++) {
    const { id } = await home.operations.keys.create({ account });
    await callWith(id);
    keys.push(id);
  }
  for (const told of [await askThread(), await home.operations.models.callers({})])
    expect(told[0]?.callers.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
});
