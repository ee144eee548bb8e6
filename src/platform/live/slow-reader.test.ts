import { afterAll, beforeAll, expect, jest, test } from "bun:test";
import { type OperationsHome, openOperations } from "../../../test/setup/operations-home.ts";
import { auditOf } from "../../../test/store/audit-sample.ts";
import { receiptOf } from "../../../test/store/ledger-samples.ts";
import { createLog } from "../../base/log.ts";
import { Minutes } from "../../ledger/minutes.ts";
import type { Receipt } from "../../ledger/receipt.ts";
import { createFactors } from "../../people/factors/factors.ts";
import { Invites } from "../../people/invites.ts";
import { People } from "../../people/people.ts";
import { SessionSecrets } from "../../people/session-secrets.ts";
import { Tokens } from "../../people/tokens.ts";
import { extendContext } from "../context.ts";
import { Api } from "../http/api.ts";
import { Live } from "./live.ts";
import { liveRoutes } from "./routes.ts";

const everyMs = 1;
const watchers = new Set<(receipt: Receipt) => void>();
let home: OperationsHome;
let api: Api;
let tokens: Tokens;
let made: Awaited<ReturnType<Tokens["create"]>>;

beforeAll(async () => {
  home = await openOperations();
  const { store, unbound: operations } = home;
  const clock = { nowMs: () => home.clock.ms };
  const people = new People(store.people, clock);
  tokens = new Tokens(store.people, clock);
  made = await tokens.create(
    {
      name: "listener",
      accountId: undefined,
      role: "operator",
      scopes: ["usage:read"],
      expiresAtMs: undefined,
      by: { name: "a test", id: "" },
    },
    () => auditOf(),
  );
  const dependencies = {
    operations,
    people,
    factors: createFactors(people, home.secrets),
    identities: undefined,
    invites: new Invites(people),
    sessionSecrets: new SessionSecrets(new Uint8Array(32)),
    tokens,
    audit: store.audit,
    accounts: store.accounts,
    keys: store.keys,
    catalog: store.catalog,
    reports: store.openReports({ clock, flush: async () => {}, minutes: new Minutes() }),
    live: new Live({ watchers, rejectionWatchers: new Set(), everyMs }),
    clock,
    log: createLog({ level: "silent", pretty: false, write: () => {} }),
    sendsMail: false,
    version: "0.0.0-test",
    gatewayUrl: () => "http://127.0.0.1:8080",
    platformUrl: () => "http://127.0.0.1:8081",
    settings: [],
  };
  api = new Api({ dependencies, routes: liveRoutes, extend: extendContext(dependencies) });
});
afterAll(() => home.remove());

/** News comes so often, each with one request. */
function happen(times: number): void {
  for (let at = 0; at < times; at++) {
    for (const tell of watchers) tell(receiptOf());
    jest.advanceTimersByTime(everyMs);
  }
}

test("for a listener who does not read, no more than so much is kept", async () => {
  jest.useFakeTimers();
  try {
    const request = new Request("http://127.0.0.1:8081/api/live", {
      headers: { authorization: `Bearer ${made.secret}` },
    });
    const response = await api.respond(request, "127.0.0.1");
    const reader = response?.body?.getReader();
    if (reader === undefined) throw new Error(`no stream: ${response?.status}`);
    happen(5_000);
    // With its right the stream ends, and what was kept is all that is left to read.
    await tokens.revoke({ id: made.token.id, accountId: undefined }, () => auditOf());
    jest.advanceTimersByTime(15_000);
    let chunks = 0;
    while (!(await reader.read()).done) chunks++;
    expect(chunks).toBeGreaterThan(50);
    expect(chunks).toBeLessThan(200);
    expect(watchers.size).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
