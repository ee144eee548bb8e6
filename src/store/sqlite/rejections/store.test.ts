import { beforeEach, expect, test } from "bun:test";
import { openEmptyDatabase } from "../../../../test/setup/empty-database.ts";
import { useFolder } from "../../../../test/setup/folder.ts";
import { noonMs } from "../../../../test/store/ledger-samples.ts";
import { rejectionCountOf, rejectionOf } from "../../../../test/store/rejection-samples.ts";
import { idTimeMs } from "../../../base/ids.ts";
import {
  mostCounted,
  otherNames,
  type Rejection,
  type RejectionBounds,
  type RejectionCount,
} from "../../../rejections/rejection.ts";
import { countRejections, readRejected, readRejections } from "../../sql/rejections/reading.ts";
import { createSqliteReader } from "../reports/sqlite-reader.ts";
import type { Sqlite } from "../sqlite.ts";
import { createRejectionStore } from "./store.ts";

const folder = useFolder();

const dayMs = 86_400_000;
const bounds = { rows: 1_000, rowsOfAccount: 1_000, counts: 1_000, countsOfAccount: 1_000 };

let sqlite: Sqlite;
beforeEach(() => {
  sqlite = openEmptyDatabase(folder);
  sqlite.raw.run("insert into accounts (id, name, created_at_ms) values ('acct_1', 'a', 0)");
  sqlite.raw.run(
    "insert into keys (id, account_id, name, hash, hint, created_at_ms) values ('key_1', 'acct_1', '', 'h', '', 0)",
  );
});

function open(given: Partial<RejectionBounds> = {}) {
  const { db, raw } = sqlite;
  return createRejectionStore({
    db,
    raw,
    bounds: { ...bounds, ...given },
    async exclusive(work, then) {
      then(raw.transaction(work)());
    },
  });
}
type Store = ReturnType<typeof open>;

const add = (store: Store, rows: readonly Rejection[], counts: readonly RejectionCount[] = []) =>
  store.add({ rows, counts, keys: [] });
const reader = () => createSqliteReader(sqlite.raw);
const page = (query: Partial<Parameters<typeof readRejections>[1]> = {}) =>
  readRejections(reader(), { limit: 1_000, ...query });
const counted = (query: Partial<Parameters<typeof readRejected>[1]> = {}) =>
  readRejected(reader(), {
    fromMs: 0,
    toMs: noonMs + dayMs,
    grain: "hour",
    by: "none",
    names: [],
    ...query,
  });

test("pages are newest first, follow each other without a gap, and keep to every filter", async () => {
  const store = open();
  const rows = Array.from({ length: 25 }, (_, at) =>
    rejectionOf({
      atMs: noonMs + at,
      accountId: at % 2 === 0 ? "acct_1" : "acct_2",
      keyId: `key_${at % 3}`,
      model: at % 5 === 0 ? "" : "m",
      endpoint: at % 4 === 0 ? "models" : "chat",
      ...(at % 6 === 0 ? { status: 429, code: "rate_limit_exceeded" } : {}),
    }),
  );
  await add(store, rows);
  const all = rows.toReversed();
  expect((await page()).rejections).toEqual(all);
  const seen: Rejection[] = [];
  for (let after: string | undefined, pages = 0; pages < 4; pages++) {
    const next = await page({ limit: 7, after });
    seen.push(...next.rejections);
    ({ after } = next);
    expect(after === undefined).toBe(pages === 3);
  }
  expect(seen).toEqual(all);
  const filters: readonly [Parameters<typeof page>[0], (row: Rejection) => boolean][] = [
    [{ accountId: "acct_2" }, ({ accountId }) => accountId === "acct_2"],
    [{ keyId: "key_2" }, ({ keyId }) => keyId === "key_2"],
    [{ model: "m" }, ({ model }) => model === "m"],
    [{ endpoint: "models" }, ({ endpoint }) => endpoint === "models"],
    [{ code: "rate_limit_exceeded" }, ({ status }) => status === 429],
    [
      { status: 402, accountId: "acct_1" },
      (row) => row.status === 402 && row.accountId === "acct_1",
    ],
    [{ idPrefix: rows[3]?.id }, ({ id }) => id === rows[3]?.id],
    [{ idPrefix: rows[3]?.id.slice(0, -2) }, ({ id }) => id === rows[3]?.id],
    [{ fromMs: noonMs + 20 }, ({ id }) => idTimeMs(id) >= noonMs + 20],
    [{ toMs: noonMs + 3 }, ({ id }) => idTimeMs(id) < noonMs + 3],
  ];
  for (const [query, isRight] of filters) {
    const found = (await page(query)).rejections;
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(all.filter(isRight));
    expect(await countRejections(reader(), query ?? {})).toEqual({
      count: found.length,
      isCapped: false,
    });
  }
});

test("a total counts calls, and says where it looked at no more", async () => {
  await add(open(), [
    rejectionOf({ count: 5 }),
    rejectionOf(),
    rejectionOf({ accountId: "acct_2" }),
  ]);
  expect(await countRejections(reader(), {})).toEqual({ count: 7, isCapped: false });
  expect(await countRejections(reader(), { accountId: "acct_1" })).toMatchObject({ count: 6 });
  sqlite.raw.run(`insert into rejections with recursive n(i) as
      (values (1) union all select i + 1 from n where i < ${mostCounted})
    select 'req_0' || i, 'acct_1', 'key_1', 'm', 'chat', 402, 'insufficient_quota', '', '', 1, 'chat' from n`);
  expect(await countRejections(reader(), {})).toEqual({ count: mostCounted + 4, isCapped: true });
});

test("by a group, every name that is asked for and the most frequent are counted, the others as one", async () => {
  const store = open();
  const counts = Array.from({ length: 40 }, (_, at) =>
    rejectionCountOf({ keyId: `key_${at}`, count: at + 1 }),
  );
  await add(store, [], counts);
  const found = await counted({ by: "key", names: ["key_0", "key_1"] });
  const names = new Map(found.map(({ name, count }) => [name, count]));
  expect(names.size).toBe(21);
  expect([names.get("key_0"), names.get("key_1"), names.get("key_39")]).toEqual([1, 2, 40]);
  expect([names.has("key_22"), names.has("key_21")]).toEqual([true, false]);
  expect(names.get(otherNames)).toBe(250);
  expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(820);
  expect(await counted({ by: "account" })).toEqual([
    { startMs: noonMs, name: "acct_1", count: 820 },
  ]);
  expect(await counted({ keyId: "key_9" })).toEqual([{ startMs: noonMs, name: "", count: 10 }]);
});
