import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodesHome, openNodes } from "../../setup/among-nodes.ts";
import { briefGateway, joinOperator } from "../../setup/platform-home.ts";
import { expectNoBarriers, windowOf } from "../setup/console-home.ts";
import { dialogBy, told } from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

let nodes: NodesHome;
const home = useOperatorHome(async () => {
  nodes = await openNodes();
  return { open: nodes.opener("eu-1/1") };
});
beforeAll(() => home.window.goto("/operator/nodes"));
afterAll(() => nodes.remove());

const row = (name: string) =>
  home.window.page.getByRole("table", { name: "Nodes" }).getByRole("row").filter({ hasText: name });

test("nodes that come, change and go are seen without a reload", async () => {
  const { page } = home.window;
  await told(row("eu-1/1"), "Running");
  await page.getByRole("heading", { name: "1 node takes calls" }).waitFor();
  const other = await nodes.join({ name: "eu-2" });
  await other.tick({ calls: 12, memoryMb: 140, cpuMs: 330 }, 0);
  await told(row("eu-2"), /12 calls33 % CPU, 140 MB/);
  await other.leave();
  await told(row("eu-2"), "Stopped");
  expect(await row("eu-2").getByRole("button").count()).toBe(0);
});

test("a node is drained after a question, and resumed", async () => {
  const { window } = home;
  // Workers share a port: one button stands for all of their machine.
  const worker = await nodes.join({ name: "eu-1/2" });
  await told(row("eu-1/2"), "Running");
  expect(await row("eu-1/2").getByRole("button").count()).toBe(0);
  const question = await dialogBy(window, "Drain eu-1", "Drain eu-1?");
  await question.getByRole("button", { name: "Drain" }).click();
  await told(row("eu-1/1"), "Draining");
  await told(row("eu-1/2"), /silentDrained.*Last seen \d+ s ago/i);
  await window.page.getByRole("button", { name: "Resume eu-1" }).click();
  await told(row("eu-1/1"), "Running");
  await worker.leave();
  await expectNoBarriers(window);
});

test("with SQLite, the page says how to run several nodes", async () => {
  await using alone = await briefGateway();
  const { cookie } = await joinOperator(alone);
  const window = await windowOf(home.browser, alone, { cookie });
  await window.goto("/operator/nodes");
  await told(window.page.getByRole("region", { name: "One node" }), "SVC_DATABASE_URL");
  expect(await window.page.getByRole("table").count()).toBe(0);
  await window.close();
});
