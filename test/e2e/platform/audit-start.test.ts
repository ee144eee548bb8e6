import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { applyAtStart, openStore, operationsOn } from "../../../src/app/store.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { serverStart } from "../../../src/platform/audit/author.ts";
import { forActor } from "../../../src/platform/operations.ts";
import { createHome, type Home } from "../../setup/child.ts";

const manifest = `
providers:
  named: { kind: openai, base_url: "https://named.example/v1", api_key: "sk-vendor-literal" }
models:
  one: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: named, model: a }] }
`;
const grown = `${manifest}  two: { endpoint: chat }\n`;

let home: Home;
beforeEach(() => {
  home = createHome();
  home.writeConfig(manifest);
});
afterEach(() => home.remove());

interface Row {
  readonly action: string;
  readonly actor_kind: string;
  readonly actor_name: string;
  readonly subject: string;
  readonly detail: string;
}

function rows(): readonly Row[] {
  const database = new Database(join(home.dataDir, "svc.db"), { readonly: true });
  try {
    return database.query<Row, []>("select * from audit order by id").all();
  } finally {
    database.close();
  }
}

const byName = () => rows().map((row) => [row.action, row.actor_kind, row.actor_name, row.subject]);
const applied = () =>
  rows()
    .filter(({ action }) => action === "manifest.apply")
    .map(({ actor_name, detail }) => [actor_name, JSON.parse(detail)]);

test("the first start records the file, the first account, its credit, its key and the operator's link", async () => {
  const server = await home.serve();
  expect(byName()).toEqual([
    ["manifest.apply", "command", "start", "catalog"],
    ["account.create", "command", "start", "default"],
    ["account.credit", "command", "start", "welcome"],
    ["key.create", "command", "start", expect.stringMatching(/^first \(sk-svc-…/)],
    ["operator.invite", "command", "start", expect.stringMatching(/^invite_/)],
  ]);
  expect(JSON.stringify(rows())).not.toContain(server.key ?? "no key");
});

/** What a start does with the config file; the rest of a server would take a second. */
async function start(): Promise<void> {
  const environment = { SVC_DATA_DIR: home.dataDir, SVC_CONFIG: home.configPath };
  const configuration = loadConfiguration(environment);
  const opened = await openStore(configuration);
  try {
    const unbound = operationsOn({ configuration, opened, takeEffect: async () => {} });
    const operations = forActor(unbound, { actor: serverStart, clock: systemClock });
    const log = createLog({ level: "silent", pretty: false, write: () => {} });
    await applyAtStart({ configuration, opened, operations, log });
  } finally {
    await opened.close();
  }
}

test("a start and svc apply record what the file changes, and who applied it", async () => {
  await start();
  const file = "svc.yaml";
  const created = ["start", { file, create: ["provider named", "model one"] }];
  expect(applied()).toEqual([created]);

  home.writeConfig(grown);
  expect((await home.svc(["apply", "--dry-run"])).code).toBe(0);
  expect(applied()).toHaveLength(1);
  expect((await home.svc(["apply"])).code).toBe(0);
  const added = ["command line", { file, create: ["model two"] }];
  expect(applied()).toEqual([created, added]);

  // The file is as it was applied: a start has nothing to record.
  await start();
  expect(applied()).toHaveLength(2);

  home.writeConfig(manifest.replace("input: 1", "input: 2"));
  expect((await home.svc(["apply"])).code).toBe(0);
  expect(applied().at(-1)).toEqual(["command line", { file, change: ["model one"] }]);
  home.writeConfig(manifest);
  await start();
  expect(applied().at(-1)).toEqual(["start", { file, change: ["model one"] }]);
  expect(JSON.stringify(rows())).not.toContain("sk-vendor-literal");
});
