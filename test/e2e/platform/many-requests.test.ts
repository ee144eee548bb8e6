/** Sorting and counting at a size where they must stop: more than 100,000 receipts. */

import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { chatAnswers } from "../../fake/recordings.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";
import { refusal } from "../../setup/platform-home.ts";
import { usePlatform } from "../../setup/use-platform.ts";

const most = 100_000;
const older = 300;

let payer: Payer;
let nowMs = Date.UTC(2027, 2, 15, 12);
const { gateway, operator } = usePlatform({ clock: { nowMs: () => nowMs } });

/** Copies of one receipt within its hour, which is open; the oldest are the dearest and slowest. */
beforeAll(async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  payer = await openPayer(gateway);
  nowMs += 3_000_000;
  await payer.chat();
  await payer.settled(1);
  const database = new Database(join(gateway.dataDir, "svc.db"), { strict: true });
  database.run("PRAGMA busy_timeout = 10000");
  const names = database
    .query<{ name: string }, []>("select name from pragma_table_info('receipts')")
    .all()
    .map(({ name }) => name);
  const values: Readonly<Record<string, string>> = {
    id: "'req_' || printf('%012x', $fromMs + at) || printf('%020x', at)",
    charged: "200000 - at",
    duration_ms: "200000 - at",
  };
  database
    .query(
      `with recursive steps(at) as (values (1) union all select at + 1 from steps where at < $count)
      insert into receipts (${names.join(", ")})
      select ${names.map((name) => values[name] ?? `receipts.${name}`).join(", ")}
      from steps, receipts where receipts.account_id = $account`,
    )
    .run({ fromMs: nowMs - 2_900_000, count: most + older - 1, account: payer.id });
  database.close();
});

const ask = async (query: Readonly<Record<string, string>>) => {
  const { status, body } = await operator.ask("GET /api/requests", { query });
  expect(status).toBe(200);
  return body;
};

test("the count stops at 100,000 and says so; below it, it is exact", async () => {
  const { total } = await ask({ count: "true", limit: "1" });
  expect(total).toEqual({ count: most, is_capped: true });
  const from = new Date(nowMs - 2_900_000 + 90_001).toISOString();
  const some = await ask({ count: "true", limit: "1", from });
  expect(some.total).toEqual({ count: most + older - 90_000, is_capped: false });
  expect(await ask({ limit: "1" })).not.toHaveProperty("total");
});

test("by duration, the slowest of the newest 100,000 come first; older ones are left out", async () => {
  const { requests, after } = await ask({ sort: "duration", limit: "3" });
  // The newest is the real call; of the copies the oldest 300 are not looked at.
  const slowest = 200_000 - (older + 1) + 1;
  const durations = requests.map((row: { readonly duration_ms: number }) => row.duration_ms);
  expect(durations).toEqual([slowest - 1, slowest - 2, slowest - 3]);
  const next = await ask({ sort: "duration", limit: "1", after });
  expect(next.requests[0].duration_ms).toBe(slowest - 4);
});

test("a cursor of another sort, or beyond any amount, is refused with its field", async () => {
  const { after } = await ask({ limit: "1" });
  for (const wrong of [after, `${2n ** 63n}.req_a.req_b`]) {
    expect(
      await refusal(
        operator.ask("GET /api/requests", {
          query: { sort: "cost", after: wrong },
        }),
      ),
    ).toEqual([400, "after"]);
  }
});
