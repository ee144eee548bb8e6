/** `svc operator invite --mail` and `svc operator reset --mail`, with a real mail server. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runToEnd } from "../../setup/command.ts";
import { copyEmptyDatabase } from "../../setup/empty-database.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { type MailServer, startMailServer } from "../../setup/mail-server.ts";
import { refusal, succeeds } from "../../setup/outcomes.ts";
import { freePort, join as joinByLink, joinOperator, nobody } from "../../setup/platform-home.ts";

const unwanted = "unwanted@example.com";
let mail: MailServer;
let environment: Readonly<Record<string, string>>;
let gateway: TestGateway;
let plain: TestGateway;
beforeAll(async () => {
  mail = await startMailServer({
    onRcptTo: ({ address }, _, done) =>
      address === unwanted
        ? done(Object.assign(new Error("No such user"), { responseCode: 550 }))
        : done(),
  });
  environment = {
    SVC_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    SVC_MAIL_FROM: "Models <no-reply@example.com>",
  };
  gateway = await startTestGateway({ environment });
  plain = await startTestGateway();
});
afterAll(async () => {
  await gateway.stop();
  await plain.stop();
  mail.stop();
});

const run = (
  words: string,
  { dataDir }: Pick<TestGateway, "dataDir">,
  settings: Readonly<Record<string, string>> = {},
) =>
  runToEnd(words.split(" "), {
    SVC_DATA_DIR: dataDir,
    SVC_CONFIG: "",
    SVC_LOG_LEVEL: "silent",
    ...settings,
  });

const newEmail = () => `${crypto.randomUUID()}@example.com`;
const linkIn = (text: string) => /http:\/\/\S+\/join#[\w-]+/.exec(text)?.[0] ?? "";
const look = (link: string) =>
  nobody(gateway.platformUrl).ask("POST /api/invites/look", {
    body: { token: link.split("#")[1] },
  });
const invited = async ({ server }: TestGateway) =>
  (await server.operations.people.list({})).invited.map(({ email }) => email);

test("mails the link to its address, where the invited person uses it; the command does not print it", async () => {
  const email = newEmail();
  const came = mail.next();
  const stdout = succeeds(await run(`operator invite --email ${email} --mail`, gateway));
  expect(stdout).toMatch(new RegExp(`^Sent the link to ${email}. It works once and expires at `));
  expect(stdout).not.toContain("/join#");
  const { from, to, text } = await came;
  expect([from, to]).toEqual(["no-reply@example.com", [email]]);
  expect(text).toContain("An operator invites you to become an operator of this svc gateway.");
  const joined = await joinByLink(gateway.platformUrl, linkIn(text), { email });
  expect((await joined.ask("GET /api/session")).body.user).toMatchObject({
    email,
    is_operator: true,
  });
});

test("prints as JSON where the mail went", async () => {
  const email = newEmail();
  const came = mail.next();
  const { stdout } = await run(`operator invite --email ${email} --mail --json`, gateway);
  expect(JSON.parse(stdout)).toMatchObject({ link: null, mailed_to: email, mail_problem: null });
  expect((await came).to).toEqual([email]);
});

test("a mail that the server rejects is reported with its reason, and the link is printed", async () => {
  const before = mail.received.length;
  const stdout = succeeds(await run(`operator invite --email ${unwanted} --mail`, gateway));
  expect(stdout).toContain("The email was not sent. The mail server rejects the message: ");
  expect(stdout).toContain("550 No such user");
  expect((await look(linkIn(stdout))).body).toMatchObject({ kind: "operator", email: unwanted });
  expect(mail.received).toHaveLength(before);
});

test("without a mail server in the settings, it says which to set and creates no link", async () => {
  const email = newEmail();
  const { code, stdout, stderr } = await run(`operator invite --email ${email} --mail`, plain);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("Mail is not set up on this server.");
  expect(stderr).toContain("SVC_SMTP_URL and SVC_MAIL_FROM");
  expect(await invited(plain)).not.toContain(email);
});

test("without an address, it asks for one and creates no link", async () => {
  const before = await invited(gateway);
  expect(await run("operator invite --mail", gateway)).toMatchObject(
    refusal(2, "Enter the email address that the link is sent to."),
  );
  expect(await invited(gateway)).toEqual(before);
});

test("a reset link is mailed to its user in the same way", async () => {
  const operator = await joinOperator(gateway);
  const { email } = (await operator.ask("GET /api/session")).body.user;
  const came = mail.next();
  const { stdout } = await run(`operator reset ${email} --mail`, gateway);
  expect(stdout).toStartWith(`Sent the link to ${email}.`);
  const { to, text } = await came;
  expect(to).toEqual([email]);
  expect((await look(linkIn(text))).body.kind).toBe("reset");
});

test("no server needs to run: the command sends the mail by its own settings", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-operator-"));
  copyEmptyDatabase(join(dataDir, "svc.db"));
  const settings = { ...environment, SVC_PLATFORM_URL: gateway.platformUrl };
  const email = newEmail();
  const came = mail.next();
  const sent = await run(`operator invite --email ${email} --mail`, { dataDir }, settings);
  expect(sent.stdout).toStartWith(`Sent the link to ${email}.`);
  expect((await came).to).toEqual([email]);
  const gone = { ...settings, SVC_SMTP_URL: `smtp://127.0.0.1:${freePort()}` };
  const stdout = succeeds(await run(`operator invite --email ${email} --mail`, { dataDir }, gone));
  expect(stdout).toContain("The email was not sent. The mail server cannot be reached");
  expect(linkIn(stdout)).toStartWith(`${gateway.platformUrl}/join#`);
  rmSync(dataDir, { recursive: true });
});
