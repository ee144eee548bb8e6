/** Authenticator apps and recovery codes, and what operators see of them, in a real browser. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { join, password } from "../setup/platform-home.ts";
import { addApp } from "../setup/second-factor.ts";
import { expectNoBarriers, type Window } from "./setup/console-home.ts";
import { dialogBy, expectRefusal, openedDialog } from "./setup/operator-home.ts";
import {
  clock,
  enterPassword,
  heading,
  named,
  type SignInHome,
  scan,
  signOut,
  startSignInHome,
  takeCodes,
} from "./setup/sign-in-home.ts";

let home: SignInHome;
beforeAll(async () => {
  home = await startSignInHome();
});
afterAll(() => home.stop());

describe("an authenticator app", () => {
  test("is set up from the profile, and then asked for at sign-in", async () => {
    const { email } = await home.newPerson();
    await home.withWindow(async (window) => {
      const { page } = window;
      await enterPassword(window, email);
      await heading(window, "Overview").waitFor();
      await window.goto("/me");
      const dialog = await dialogBy(window, "Set up app", "Set up authenticator app");
      await page.getByLabel("Code from the app").fill("not a code");
      await page.getByRole("button", { name: "Turn on" }).click();
      await dialog.getByText("This is not a valid code.").waitFor();
      await expectRefusal(window, 401);
      const app = await scan(page);
      const codes = await takeCodes(page);
      expect(codes).toHaveLength(10);
      await page.getByText("10 codes left.").waitFor();
      await expectNoBarriers(window);
      await signOut(window);

      await enterPassword(window, email);
      await heading(window, "Confirm that it is you").waitFor();
      const code = page.getByLabel("Code", { exact: true });
      expect(await code.getAttribute("autocomplete")).toBe("one-time-code");
      expect(await code.evaluate((input) => input === document.activeElement)).toBe(true);
      await expectNoBarriers(window);
      await page.keyboard.type("000");
      await page.keyboard.press("Enter");
      await page.getByText("This is not a valid code.").waitFor();
      await expectRefusal(window, 401);
      // What was wrong is selected, so the next one takes its place.
      expect(await code.evaluate((input) => input === document.activeElement)).toBe(true);
      await page.keyboard.type(app.code());
      clock.next();
      await page.keyboard.press("Enter");
      await heading(window, "Overview").waitFor();

      await signOut(window);
      await enterPassword(window, email);
      await page.getByRole("button", { name: "Use a recovery code" }).click();
      await page.getByLabel("Recovery code").fill(codes[0] ?? "");
      await page.getByRole("button", { name: "Confirm" }).click();
      await heading(window, "Overview").waitFor();
      await window.goto("/me");
      await page.getByText("9 codes left.").waitFor();

      await signOut(window);
      await enterPassword(window, email);
      await page.getByRole("button", { name: "Use a recovery code" }).click();
      await page.getByLabel("Recovery code").fill(codes[0] ?? "");
      await page.getByRole("button", { name: "Confirm" }).click();
      await page.getByText("This recovery code is wrong or was already used.").waitFor();
      await expectRefusal(window, 401);
    });
  });

  test("is removed only by a person who proves again who they are", async () => {
    const { email, who } = await home.newPerson();
    const { app } = await addApp(who, clock);
    await home.withWindow(async (window) => {
      const { page } = window;
      await enterPassword(window, email);
      await page.getByLabel("Code", { exact: true }).fill(app.code());
      clock.next();
      await page.keyboard.press("Enter");
      await heading(window, "Overview").waitFor();
      clock.ms += 11 * 60_000;
      await window.goto("/me");
      const proof = await dialogBy(window, "Remove authenticator app", "Confirm that it is you");
      expect(await proof.getByLabel("Your password").count()).toBe(0);
      await proof.getByLabel("Code").fill("wrong code");
      await proof.getByRole("button", { name: "Confirm" }).click();
      await proof.getByText("This is not a valid code.").waitFor();
      await expectRefusal(window, 401);
      await proof.getByLabel("Code").fill(app.code());
      clock.next();
      await proof.getByRole("button", { name: "Confirm" }).click();
      const question = await openedDialog(window, "Remove your authenticator app?");
      await question.getByRole("button", { name: "Remove" }).click();
      await page.getByText("Not set up.").waitFor();
      await signOut(window);
      await enterPassword(window, email);
      await heading(window, "Overview").waitFor();
    });
  });

  test("late code: the sign-in starts again and says why", async () => {
    const { email, who } = await home.newPerson();
    const { app } = await addApp(who, clock);
    await home.withWindow(async (window) => {
      const { page } = window;
      await enterPassword(window, email);
      await heading(window, "Confirm that it is you").waitFor();
      clock.ms += 11 * 60_000;
      await page.getByLabel("Code", { exact: true }).fill(app.code());
      await page.getByRole("button", { name: "Confirm" }).click();
      await heading(window, "Sign in").waitFor();
      await page.getByText("This step took longer than 10 minutes").waitFor();
      expect(await page.getByLabel("Email").inputValue()).toBe(email);
      await expectRefusal(window, 409);
    });
  });
});

test("other sessions end at once, all together", async () => {
  const { email, who } = await home.newPerson();
  await home.withWindow(async (window) => {
    const { page } = window;
    await enterPassword(window, email);
    await heading(window, "Overview").waitFor();
    await window.goto("/me");
    const question = await dialogBy(window, "Sign out all others", "Sign out all other sessions?");
    await question.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("Signed out 1 session.").waitFor();
    expect((await who.ask("GET /api/session")).body.user).toBeNull();
  });
});

test("an operator sees who has a second factor, and removes it for a person who lost it", async () => {
  const { email, who } = await home.newPerson();
  await addApp(who, clock);
  await home.withWindow(
    async (window) => {
      const { page } = window;
      await window.goto(`/operator/people?find=${email}`);
      const row = page.getByRole("row", { name: new RegExp(email) });
      await row.getByRole("cell", { name: "Yes" }).waitFor();
      await row.getByRole("button", { name: /^Reset factors/ }).click();
      const proof = await openedDialog(window, "Confirm that it is you");
      await proof.getByLabel("Your password").fill(password);
      await proof.getByRole("button", { name: "Confirm" }).click();
      const question = await openedDialog(window, /^Remove all second factors/);
      await question.getByRole("button", { name: "Remove factors" }).click();
      await row.getByRole("cell", { name: "None" }).first().waitFor();
      expect((await who.ask("GET /api/session")).body.user).toBeNull();
    },
    { platformUrl: home.gateway.platformUrl, cookie: home.operator.cookie },
  );
});

/** The form that the proof was missing for is sent again, and has made a link. */
async function proveAndShowLink(window: Window): Promise<void> {
  const proof = await openedDialog(window, "Confirm that it is you");
  await proof.getByLabel("Your password").fill(password);
  await proof.getByRole("button", { name: "Confirm" }).click();
  await window.page.getByText("/join#").waitFor();
  await expectRefusal(window, 403);
}

test("an operator who signed in long ago proves who they are, and the form is sent again", async () => {
  clock.ms += 11 * 60_000;
  await home.withWindow(
    async (window) => {
      await window.goto("/operator/people");
      const form = await dialogBy(window, "Invite operator", "Invite operator");
      await form.getByLabel("Email (optional)").fill("new@example.com");
      await form.getByRole("button", { name: "Create link" }).click();
      await proveAndShowLink(window);
    },
    { platformUrl: home.gateway.platformUrl, cookie: home.operator.cookie },
  );
});

describe("where a second factor is required", () => {
  let strict: TestGateway;
  beforeAll(async () => {
    strict = await startTestGateway({
      clock,
      environment: { SVC_REQUIRE_SECOND_FACTOR: "operators" },
    });
  });
  afterAll(() => strict.stop());

  test("a new operator sets one up before anything else, and is then where they wanted to be", async () => {
    const { link } = await strict.server.operations.operators.invite({});
    await home.withWindow(
      async (window) => {
        const { page } = window;
        await page.goto(link.replace("127.0.0.1", "localhost"));
        await page.getByLabel("Your name").fill("Ada");
        await page.getByLabel("Email").fill("ada@example.com");
        await page.getByLabel("Password", { exact: true }).fill(password);
        await page.getByLabel("Confirm password").fill(password);
        await page.getByRole("button", { name: "Join and sign in" }).click();
        await heading(window, "Set up a second factor").waitFor();
        await expectNoBarriers(window);
        await window.goto("/operator/keys");
        await heading(window, "Set up a second factor").waitFor();
        await page.getByRole("button", { name: "Set up authenticator app" }).click();
        await scan(page);
        await heading(window, "Recovery codes").waitFor();
        await expectNoBarriers(window);
        await takeCodes(page);
        await heading(window, "Keys").waitFor();
        await window.goto("/me");
        await page.getByRole("button", { name: "Remove authenticator app" }).click();
        const question = await openedDialog(window, "Remove your authenticator app?");
        await question.getByRole("button", { name: "Remove" }).click();
        await question.getByText("Set up another one before you remove this one.").waitFor();
        await expectRefusal(window, 409);
      },
      { platformUrl: named(strict) },
    );
  });

  test("a member, of whom none is required, goes straight in", async () => {
    const { account, platformUrl, server } = strict;
    const { link } = await server.operations.members.invite({ account, role: "viewer" });
    const member = await join(platformUrl, link, { email: "grace@example.com" });
    const { status } = await member.ask("GET /api/accounts/:account", { params: { account } });
    expect(status).toBe(200);
  });
});
