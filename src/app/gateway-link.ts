import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Configuration } from "../config/load.ts";
import { Minutes } from "../ledger/minutes.ts";
import type { LedgerReports } from "../ledger/reports.ts";
import type { RunningMoney } from "../platform/accounts/funds.ts";
import type { RunningGateway } from "../platform/gateway/operations.ts";
import type { LiveOptions } from "../platform/live/live.ts";
import type { RejectionReports } from "../rejections/rejection.ts";
import type { GatewayRole } from "./gateway-role.ts";
import type { Opened } from "./opened.ts";
import { throughStore } from "./through-store.ts";
import { Ticker } from "./ticker.ts";
import { closingShare, type Undo } from "./undo.ts";

/** What the platform asks of the gateways, whether one runs in this process or several elsewhere. */
export interface GatewayLink {
  readonly gateway: RunningGateway;
  /** Money as the gateway of this process counts it; without one, the store has all that is known. */
  readonly money: RunningMoney | undefined;
  readonly reports: LedgerReports & RejectionReports;
  readonly live: Pick<LiveOptions, "watchers" | "rejectionWatchers" | "listening">;
  /** As callers see it; without /v1. */
  readonly publicUrl: string;
  metricsText(): Promise<string>;
  /** Resolves when what was just written is in effect here. Other processes follow the feed. */
  takeEffect(): Promise<void>;
}

/** The gateway runs in this process: its memory is asked, and the store if there are others. */
export function linkInProcess(role: GatewayRole, opened: Opened, clock: Clock): GatewayLink {
  const { state, money, metrics, url, publicUrl } = role;
  return {
    gateway: {
      ...(throughStore(opened, clock) ?? inMemory(role, clock)),
      // Not the public address: the command line calls from this machine.
      baseUrl: () => `${url}/v1`,
    },
    // With other gateways, this one knows only a part of what an account has.
    money: opened.shared === undefined ? money : undefined,
    reports: money.reports,
    live: opened.shared?.live ?? {
      watchers: money.receiptWatchers,
      rejectionWatchers: money.rejections.watchers,
    },
    publicUrl,
    metricsText: async () => metrics.text(),
    async takeEffect() {
      await opened.store.sync();
      await state.follower.catchUp();
      await opened.shared?.fleet.whenHeard();
    },
  };
}

function inMemory({ state }: GatewayRole, clock: Clock): Omit<RunningGateway, "baseUrl"> {
  const { router, keys } = state;
  return {
    health: async () => router.health(),
    resetHealth: async (provider, model) => router.reset(provider, model),
    forgetServed: async (target) => router.forgetServed(target),
    issueTemporaryKey: async (accountId, owner) =>
      keys.issueTemporary(accountId, clock.nowMs(), owner),
    endTemporaryKeys: async (owner) => void keys.endTemporary(owner),
  };
}

export interface RemoteOptions {
  readonly configuration: Configuration;
  readonly opened: Opened;
  /** Where the gateways of this machine listen, or would. */
  readonly gatewayUrl: string;
  readonly metricsText: () => Promise<string>;
  readonly clock: Clock;
  readonly log: Log;
  /** Gets what this opens. */
  readonly undo: Undo;
}

/** A process without ticks asks for the time, and so notices when the database is away. */
const reachEveryMs = 5_000;

/** All gateways run in other processes: everything goes through the store that they share. */
export function linkAcrossProcesses(options: RemoteOptions): GatewayLink {
  const { configuration, opened, gatewayUrl, metricsText, clock, log, undo } = options;
  const { store, shared } = opened;
  const gateways = throughStore(opened, clock);
  if (shared === undefined || gateways === undefined)
    throw new Error("the store is not shared with other processes");
  const askNodes = () => shared.fleet.wantReports();
  const flush = async () => {};
  const reports = store.openReports({ clock, flush, askNodes, minutes: new Minutes() });
  undo.push(() => reports.close(), closingShare(opened, "beside"));
  const work = shared.readClock;
  const ticker = new Ticker({ work, what: "reach the database", everyMs: reachEveryMs, log });
  undo.push(() => ticker.close(), closingShare(opened, "beside"));
  return {
    gateway: { ...gateways, baseUrl: () => `${gatewayUrl}/v1` },
    money: undefined,
    reports,
    live: shared.live,
    publicUrl: configuration.settings.publicUrl ?? gatewayUrl,
    metricsText,
    takeEffect: () => shared.fleet.whenHeard(),
  };
}
