import { beforeAll, expect, test } from "bun:test";
import { formatBalance } from "../../../console/src/format/money.ts";
import { chatAnswers } from "../../fake/recordings.ts";
import { hello } from "../../setup/money-home.ts";
import type { Window } from "../setup/console-home.ts";
import { dialogBy, fill, joinByLink, submit, tile, told } from "../setup/operator-home.ts";
import { useOperatorHome } from "../setup/use-console.ts";

const name = "acme research";

const home = useOperatorHome();
let owner: Window;
let account = "";
/** A call with a key of the account. */
let call = async (): Promise<Response> => new Response();
beforeAll(async () => {
  home.gateway.upstream.replyWith(chatAnswers.plain());
  owner = await home.openOther();
  await home.window.goto("/operator/accounts");
});

const button = (label: string) => home.window.page.getByRole("button", { name: label });
const standing = () => home.gateway.server.operations.accounts.balance({ account });
const codeOf = async (reply: Response) =>
  ((await reply.json()) as { error: { code: string } }).error.code;

test("an account is made with a first credit, and its owner joins by the link that is shown once", async () => {
  const { window, gateway } = home;
  const dialog = await dialogBy(window, button("Create account"), "Create account");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Initial credit in USD").fill("25");
  await dialog.getByLabel("Owner's email (optional)").fill("grace@example.com");
  await dialog.getByRole("button", { name: "Create account" }).click();
  const link = await dialog.getByText(/\/join#/).innerText();
  expect(await window.barriers()).toEqual([]);

  await owner.goto(link);
  await owner.page.getByRole("heading", { level: 1, name: `Join ${name}` }).waitFor();
  // Only who it is for can use it.
  expect(await owner.page.getByLabel("Email").isEditable()).toBe(false);
  await joinByLink(owner, link, { name: "Grace" });
  await owner.page.waitForURL("**/a/*/overview");
  account = /\/a\/(\w+)\/overview/.exec(owner.page.url())?.[1] ?? "";
  await owner.page.getByRole("button", { name: `Account: ${name}` }).waitFor();
  expect(await standing()).toMatchObject({ name, balance_usd: "25.00", status: "active" });

  await dialog.getByRole("button", { name: "Open account" }).click();
  await window.page.getByRole("heading", { level: 1, name }).waitFor();
  expect(await tile(window, "Balance").innerText()).toBe("$25.00");
  await window.page.getByRole("row", { name: /Grace.*Owner/ }).waitFor();
  const { key } = await gateway.server.operations.keys.create({ account, name: "first" });
  call = () =>
    gateway.call("/chat/completions", hello, { headers: { authorization: `Bearer ${key}` } });
  expect((await call()).status).toBe(200);
});

test("credit with a reference is added once, and a repeat is reported", async () => {
  const { window } = home;
  const before = await standing();
  const dialog = await dialogBy(window, button("Add credit"), `Add credit to ${name}`);
  const book = async () => {
    await fill(dialog, { "Amount in USD": "5", "Reference (optional)": "invoice 1017" });
    await dialog.getByRole("button", { name: "Add credit" }).click();
  };
  await book();
  await dialog.waitFor({ state: "detached" });
  const after = await standing();
  expect(Number(after.balance_usd) - Number(before.balance_usd)).toBeCloseTo(5, 9);
  await told(tile(window, "Balance"), formatBalance(after.balance_usd));

  await button("Add credit").click();
  await book();
  await told(dialog.getByRole("status"), "already used for $5.00");
  expect(await window.barriers()).toEqual([]);
  expect((await standing()).balance_usd).toBe(after.balance_usd);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await dialog.waitFor({ state: "detached" });
  const entries = await home.gateway.server.operations.entries.list({ account });
  expect(entries.filter(({ reference }) => reference === "invoice 1017")).toHaveLength(1);
  await owner.goto(`/a/${account}/billing`);
  await owner.page.getByText("invoice 1017").waitFor();
});

test("a limit holds from the next call on, and is gone when its field is emptied", async () => {
  const { window } = home;
  const limit = async (rpm: string) => {
    const dialog = await dialogBy(window, button("Edit limits"), `Limits of ${name}`);
    await dialog.getByLabel("Requests per minute").fill(rpm);
    await submit(dialog, "Save changes");
  };
  const shown = tile(window, "Requests per minute");
  await limit("1");
  await told(shown, /^1$/);
  expect([(await call()).status, (await call()).status]).toEqual([200, 429]);
  await limit("");
  await told(shown, "No limit");
  expect((await call()).status).toBe(200);
});

test("receipts are kept for some days, and as long as all when the field is emptied", async () => {
  const { window } = home;
  const keep = async (days: string) => {
    const dialog = await dialogBy(window, button("Edit retention"), `Receipts of ${name}`);
    await dialog.getByLabel("Days to keep receipts").fill(days);
    await submit(dialog, "Save changes");
  };
  const shown = tile(window, "Kept for");
  await keep("90");
  await told(shown, "90 days");
  await keep("");
  await told(shown, "As long as those of all accounts");
  expect((await standing()).receipts_days).toBeNull();
});

test("an account that is suspended is refused at once, and calls again when it is resumed", async () => {
  const { window } = home;
  const dialog = await dialogBy(window, button("Suspend"), `Suspend ${name}?`);
  expect((await call()).status).toBe(200);
  await submit(dialog, "Suspend");
  await told(window.page.getByRole("status"), "402 account_suspended");
  const refused = await call();
  expect([refused.status, await codeOf(refused)]).toEqual([402, "account_suspended"]);
  await button("Resume").click();
  await button("Suspend").waitFor();
  expect((await call()).status).toBe(200);
  expect((await standing()).status).toBe("active");
});
