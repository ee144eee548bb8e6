import type { Clock } from "../base/clock.ts";
import type { LedgerReports } from "../ledger/reports.ts";
import type { RunningMoney } from "../platform/accounts/funds.ts";
import type { RunningGateway } from "../platform/gateway/operations.ts";
import type { LiveOptions } from "../platform/live/live.ts";
import type { RejectionReports } from "../rejections/rejection.ts";
import type { GatewayRole } from "./gateway-role.ts";
import type { Opened } from "./store.ts";

/** What the platform asks of the gateways, whether one runs in this process or several elsewhere. */
export interface GatewayLink {
  readonly gateway: RunningGateway;
  /** Money as the gateway of this process counts it; without one, the store has all that is known. */
  readonly money: RunningMoney | undefined;
  readonly reports: LedgerReports & RejectionReports;
  readonly live: Pick<LiveOptions, "watchers" | "rejectionWatchers">;
  /** As callers see it; without /v1. */
  readonly publicUrl: string;
  metricsText(): Promise<string>;
  /** Resolves when what was just written is in effect here. Other processes follow the feed. */
  takeEffect(): Promise<void>;
}

/** The gateway runs in this process: its memory is asked. */
export function linkInProcess(role: GatewayRole, opened: Opened, clock: Clock): GatewayLink {
  const { state, money, metrics, url, publicUrl } = role;
  return {
    gateway: {
      health: async () => state.router.health(),
      resetHealth: async (provider, model) => state.router.reset(provider, model),
      forgetServed: async (target) => state.router.forgetServed(target),
      issueTemporaryKey: async (accountId, owner) =>
        state.keys.issueTemporary(accountId, clock.nowMs(), owner),
      endTemporaryKeys: async (owner) => void state.keys.endTemporary(owner),
      // Not the public address: the command line calls from this machine.
      baseUrl: () => `${url}/v1`,
    },
    money,
    reports: money.reports,
    live: { watchers: money.receiptWatchers, rejectionWatchers: money.rejections.watchers },
    publicUrl,
    metricsText: async () => metrics.text(),
    async takeEffect() {
      await opened.store.sync();
      await state.follower.catchUp();
    },
  };
}
