import type { Locator } from "playwright-core";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../../setup/harness.ts";
import { joinMember, joinOperator, type Visitor } from "../../setup/platform-home.ts";
import { type ConsoleBrowser, openBrowser, type Window, windowOf } from "./console-home.ts";

/** The owner of an account at the console, in front of the real gateway and the fake vendor. */
export interface MemberHome {
  readonly gateway: TestGateway;
  readonly browser: ConsoleBrowser;
  readonly operator: Visitor;
  /** The same owner as the window's, without a browser. */
  readonly owner: Visitor;
  readonly window: Window;
  /** A page of the account. */
  path(page: string): string;
  joined(role: string): Promise<Visitor>;
  /** Another browser, with nobody's cookies unless somebody's are given. */
  openOther(who?: Visitor): Promise<Window>;
  stop(): Promise<void>;
}

export async function startMemberHome(options: TestGatewayOptions = {}): Promise<MemberHome> {
  const [gateway, browser] = await Promise.all([startTestGateway(options), openBrowser()]);
  const operator = await joinOperator(gateway);
  const { account } = gateway;
  const joined = (role: string) => joinMember(gateway, operator, { account, role });
  const owner = await joined("owner");
  const openOther = (who?: Visitor) =>
    windowOf(browser, gateway, who === undefined ? {} : { cookie: who.cookie });
  return {
    gateway,
    browser,
    operator,
    owner,
    window: await openOther(owner),
    path: (page) => `/a/${account}/${page}`,
    joined,
    openOther,
    async stop() {
      await browser.close();
      await gateway.stop();
    },
  };
}

/** A clock that a test can put forward. */
export class MovedClock {
  aheadMs = 0;
  nowMs = (): number => Date.now() + this.aheadMs;
}

/** The dialog of that name; that it has no barriers is looked at where it is opened first. */
export async function shownDialog({ page }: Window, name: string): Promise<Locator> {
  const dialog = page.getByRole("dialog", { name });
  await dialog.waitFor();
  return dialog;
}
