import { beforeAll, expect, test } from "bun:test";
import { machine, type Visitor } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";
import { openStore } from "../../app/store.ts";
import type { LedgerReports } from "../../ledger/reports.ts";
import type { RejectionReports } from "../../rejections/rejection.ts";

type Reports = LedgerReports & RejectionReports;

/** Before the real reports: questions stand here until the test opens it. */
class Gate {
  readonly #opened = Promise.withResolvers<void>();
  #count = 0;
  #arrived = Promise.withResolvers<void>();

  readonly open = () => this.#opened.resolve();

  before(reports: Reports): Reports {
    const pass = async <T>(ask: () => Promise<T>) => {
      this.#count++;
      this.#arrived.resolve();
      await this.#opened.promise;
      return ask();
    };
    return {
      providers: async () => [],
      recent: async () => [],
      catchUp: (accountId) => reports.catchUp(accountId),
      usage: (query) => pass(() => reports.usage(query)),
      receipts: (query) => pass(() => reports.receipts(query)),
      ranked: (query) => pass(() => reports.ranked(query)),
      count: (query) => pass(() => reports.count(query)),
      keySpending: (query) => pass(() => reports.keySpending(query)),
      receipt: (id) => pass(() => reports.receipt(id)),
      rejections: (query) => reports.rejections(query),
      countRejections: (query) => reports.countRejections(query),
      rejected: (query) => reports.rejected(query),
      close: () => reports.close(),
    };
  }

  async until(count: number): Promise<void> {
    while (this.#count < count) {
      this.#arrived = Promise.withResolvers<void>();
      await this.#arrived.promise;
    }
    expect(this.#count).toBe(count);
  }
}

const gate = new Gate();
let token: Visitor;
const { gateway, operator, viewer } = usePlatform({
  open: async (configuration) => {
    const { store, ...rest } = await openStore(configuration);
    const openReports: typeof store.openReports = (options) =>
      gate.before(store.openReports(options));
    return { ...rest, store: { ...store, openReports } };
  },
  members: ["viewer"],
});
beforeAll(async () => {
  const made = await operator.ask("POST /api/accounts/:account/tokens", {
    body: { name: "reader", role: "viewer", scopes: ["usage:read"] },
  });
  token = machine(gateway.platformUrl, made.body.token);
});

const ask = (who: Visitor, path: string) => who.ask(`GET /api/accounts/:account${path}`);

test("who asks for very many reports waits for their own alone, and is told when it is too much", async () => {
  // Each has two questions: of twelve, four are at work and twenty in line.
  const many = Array.from({ length: 13 }, () => ask(viewer, "/usage"));
  const refused = await Promise.race(many);
  expect([refused.status, refused.body.error.code]).toEqual([503, "busy"]);
  expect(refused.body.error.message).toContain("Too many reports are running");
  await gate.until(4);
  for (const path of ["/usage", "/requests", "/requests/req_none", "/requests.csv", "/billing"]) {
    const { status, body } = await ask(viewer, path);
    expect([path, status, body.error?.code]).toEqual([path, 503, "busy"]);
  }
  const others = [ask(token, "/usage"), operator.ask("GET /api/usage")];
  await gate.until(8);
  gate.open();
  const statuses = (await Promise.all([...many, ...others])).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200)).toEqual([503]);
  expect((await ask(viewer, "/requests.csv")).status).toBe(200);
});
