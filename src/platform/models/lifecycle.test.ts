import { expect, test } from "bun:test";
import { modelSample } from "../../../test/setup/model-sample.ts";
import { problemOf, useOperations, withReports } from "../../../test/setup/operations-home.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { Mutex } from "../../base/mutex.ts";
import { modelOperations } from "./lifecycle.ts";

let account: string;
const home = useOperations(async ({ operations, store }) => {
  account = (await operations.accounts.create({ name: "acme" })).id;
  const ids = ["old", "new"];
  const price = { input: 1n, output: 1n };
  const routes = [{ provider: "engine", model: "m", weight: 1 }];
  const write = {
    atMs: 1,
    saveModels: ids.map((id) => modelSample({ id, createdAtMs: 1, routes })),
    addPrices: ids.map((modelId) => ({ modelId, effectiveAtMs: 1, createdAtMs: 1, price })),
  };
  await store.catalog.write(write, auditOf());
});

const deprecate = (id: string) =>
  home.operations.models.deprecate({ id, retires: "2999-01-31", replacement: "new" });
const callWith = (keyId: string, model = "old", accountId = account) =>
  home.receive({ accountId, keyId, model });

const askThread = () =>
  withReports(home, account, (dependencies) =>
    modelOperations({
      ...dependencies,
      isUsable: () => true,
      variable: () => undefined,
      mutex: new Mutex(),
    }).callers({}),
  );

test("callers of a deprecated model are listed by key, the most recent first", async () => {
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
      is_complete: true,
      as_of: "2027-03-23T23:59:00Z",
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

test("calls count from the moment of the deprecation, not from its hour or day", async () => {
  const { id } = await home.operations.keys.create({ account });
  const minuteMs = 60_000;
  home.clock.ms = Date.parse("2027-03-20T10:10:00Z");
  await callWith(id);
  home.clock.ms += 10 * minuteMs;
  await callWith(id);
  home.clock.ms += 1;
  await deprecate("old");
  home.clock.ms += 1;
  await callWith(id);
  home.clock.ms += 10 * minuteMs;
  await callWith(id);
  home.clock.ms += 60 * minuteMs;
  await callWith(id);
  expect(await askThread()).toMatchObject([
    { receipts: 3, callers: [{ key: id, receipts: 3, last_day: "2027-03-20" }] },
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

test("the audit log has the dates and the replacement as they were and as they are", async () => {
  await deprecate("old");
  const dateOf = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");
  const from = dateOf(home.clock.ms);
  home.clock.ms += 1_000;
  await home.operations.models.deprecate({ id: "old", retires: "2998-01-31", replacement: "new" });
  home.clock.ms += 1_000;
  await home.operations.models.retire({ id: "old" });
  const { records } = await home.store.audit.list({ subject: "old", limit: 3 });
  const retires = { first: "2999-01-31T00:00:00Z", second: "2998-01-31T00:00:00Z" };
  const detail = { from, replacement: "new" };
  expect(records.map((record) => record.detail)).toEqual([
    {
      ...detail,
      retires: dateOf(home.clock.ms),
      before: { ...detail, retires: retires.second },
    },
    { ...detail, retires: retires.second, before: { ...detail, retires: retires.first } },
    {
      ...detail,
      retires: retires.first,
      before: { from: null, retires: null, replacement: null },
    },
  ]);
});
