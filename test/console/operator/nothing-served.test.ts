/** A new platform without the embedded models: nothing can be called yet. */

import { expect, test } from "bun:test";
import { joinMember } from "../../setup/platform-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const home = useOperatorHome({ manifest: "models: {}\n", environment: { SVC_ENGINE: "off" } });

const title = "No models available yet";

test("operators are led to a provider, and not to the playground", async () => {
  const { window } = home;
  for (const path of ["/operator/overview", `/a/${home.gateway.account}/overview`]) {
    await window.goto(path);
    const { page } = window;
    await page.getByRole("heading", { name: title }).waitFor();
    const main = page.getByRole("main");
    expect(await main.getByText("embedded").count()).toBe(0);
    expect(await main.getByRole("link", { name: "Open playground" }).count()).toBe(0);
    await main.getByRole("link", { name: "Add provider" }).first().waitFor();
    expect(await window.barriers()).toEqual([]);
  }
  await window.goto("/operator/providers");
  await window.page.getByRole("heading", { name: "No providers yet" }).waitFor();
  expect(await window.page.getByRole("main").getByText("embedded").count()).toBe(0);
});

test("a member reads whom to ask", async () => {
  const { gateway, operator } = home;
  const { account } = gateway;
  const developer = await joinMember(gateway, operator, { account, role: "developer" });
  const window = await home.openOther(developer.cookie);
  await window.goto(`/a/${account}/overview`);
  await window.page.getByRole("heading", { name: title }).waitFor();
  await window.page.getByText("The operator of this platform has to connect a provider").waitFor();
});
