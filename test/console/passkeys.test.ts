/** Passkeys in a real browser, with its own authenticator. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { CDPSession } from "playwright-core";
import { expectNoBarriers, type Window } from "./setup/console-home.ts";
import { dialogBy, openedDialog } from "./setup/operator-home.ts";
import {
  clock,
  enterPassword,
  heading,
  type SignInHome,
  signOut,
  startSignInHome,
  takeCodes,
} from "./setup/sign-in-home.ts";

let home: SignInHome;
beforeAll(async () => {
  home = await startSignInHome();
});
afterAll(() => home.stop());

/** An authenticator of the browser, whose person is there and says yes. */
async function plugIn({ page, context }: Window): Promise<CDPSession> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return devtools;
}

describe("a passkey", () => {
  test("is added, renamed, signs in alone and after the password, and is removed", async () => {
    const { email } = await home.newPerson();
    await home.withWindow(async (window) => {
      const { page } = window;
      await plugIn(window);
      await enterPassword(window, email);
      await heading(window, "Overview").waitFor();
      await window.goto("/me");
      const dialog = await dialogBy(window, "Add passkey", "Add passkey");
      await dialog.getByLabel("Name").fill("Laptop");
      await dialog.getByRole("button", { name: "Create passkey" }).click();
      await takeCodes(page);
      const row = page.getByRole("row", { name: /Laptop/ });
      await row.getByText("Never").waitFor();
      const renaming = await dialogBy(window, "Rename Laptop", "Rename passkey");
      await renaming.getByLabel("Name").fill("Old laptop");
      await renaming.getByRole("button", { name: "Save" }).click();
      await page.getByRole("row", { name: /Old laptop/ }).waitFor();
      await expectNoBarriers(window);

      await signOut(window);
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await heading(window, "Overview").waitFor();
      await signOut(window);

      await enterPassword(window, email);
      await heading(window, "Confirm that it is you").waitFor();
      await page.getByRole("button", { name: "Use passkey" }).click();
      await heading(window, "Overview").waitFor();

      await window.goto("/me");
      expect(await page.getByRole("row", { name: /Old laptop/ }).innerText()).not.toContain(
        "Never",
      );
      clock.ms += 11 * 60_000;
      await window.goto("/me");
      const proof = await dialogBy(window, "Remove Old laptop", "Confirm that it is you");
      await proof.getByRole("button", { name: "Use passkey" }).click();
      const question = await openedDialog(window, /^Remove the passkey/);
      await question.getByText("Your password alone will sign you in.").waitFor();
      await question.getByRole("button", { name: "Remove" }).click();
      await page.getByText("None.", { exact: true }).waitFor();
    });
  });

  test("that the browser does not provide is an error with a way on", async () => {
    const { email } = await home.newPerson();
    await home.withWindow(async (window) => {
      const { page } = window;
      const devtools = await plugIn(window);
      await enterPassword(window, email);
      await heading(window, "Overview").waitFor();
      await window.goto("/me");
      await page.getByRole("button", { name: "Add passkey" }).click();
      await (await openedDialog(window, "Add passkey")).getByLabel("Name").fill("Key");
      await page.getByRole("button", { name: "Create passkey" }).click();
      await takeCodes(page);
      await devtools.send("WebAuthn.disable");
      // Without an authenticator, browsers wait for one: the page stops waiting.
      await page.addInitScript(() => {
        navigator.credentials.get = () =>
          Promise.reject(new DOMException("refused", "NotAllowedError"));
      });
      await signOut(window);
      await enterPassword(window, email);
      await page.reload();
      await enterPassword(window, email);
      await page.getByRole("button", { name: "Use passkey" }).click();
      await page.getByText("The browser did not provide a passkey").waitFor();
      await page.getByRole("button", { name: "Use a recovery code" }).click();
      await page.getByLabel("Recovery code").waitFor();
    });
  });

  test("needs a name: the console at an IP address leads to localhost", async () => {
    const { who } = await home.newPerson();
    await home.withWindow(
      async (window) => {
        const { page } = window;
        await window.goto("/me");
        expect(await page.getByRole("button", { name: "Add passkey" }).count()).toBe(0);
        await page.getByText("sign in there once more").waitFor();
        await page.getByRole("link", { name: `${home.platformUrl}/me` }).click();
        await heading(window, "Sign in").waitFor();
        expect(page.url()).toStartWith(`${home.platformUrl}/`);
        expect(await page.getByRole("button", { name: "Sign in with a passkey" }).count()).toBe(1);
      },
      { platformUrl: home.gateway.platformUrl, cookie: who.cookie },
    );
    await home.withWindow(
      async (window) => {
        await window.goto("/sign-in");
        await window.page.getByText("Passkeys do not work at an IP address.").waitFor();
        await expectNoBarriers(window);
      },
      { platformUrl: home.gateway.platformUrl },
    );
  });
});
