import type { AuditStore } from "../../base/audit.ts";
import { toDateText } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import type { ServedTarget, TargetHealth } from "../../catalog/health.ts";
import type { TemporaryKey } from "../../keys/directory.ts";
import type { Account, AccountStore } from "../../ledger/account.ts";
import type { Audits, Unbound } from "../audit/author.ts";
import { findAccount } from "../input/values.ts";

/** A key that no list shows, and where it opens the gateway. */
export interface TemporaryKeyView {
  readonly key: string;
  readonly account: string;
  readonly expires_at: string;
  readonly base_url: string;
}

/**
 * What running gateways add; without one, no calls are possible. The gateway may be in this process
 * or several others may be elsewhere.
 */
export interface RunningGateway {
  /** Of the targets called since the start. */
  health(): Promise<readonly TargetHealth[]>;
  /** Puts a provider's targets back in service and returns how many are known. */
  resetHealth(provider: string, model?: string): Promise<number>;
  /** A test of a target failed: its next call is news again. */
  forgetServed(target: ServedTarget): Promise<void>;
  issueTemporaryKey(accountId: string, owner?: string): Promise<TemporaryKey>;
  endTemporaryKeys(owner: string): Promise<void>;
  /** Ends in /v1. */
  baseUrl(): string;
}

export interface GatewayOperations {
  /** Checks whether a server responds. */
  ping(input: Record<never, never>): Promise<{ readonly ok: true }>;
  /** The gateway's address for callers on this machine. */
  show(input: Record<never, never>): Promise<{ readonly base_url: string }>;
  /** A key for calls from the command line; only a running server has a use for one. */
  createTemporaryKey(input: { account?: string; owner?: string }): Promise<TemporaryKeyView>;
}

export const gatewayAudits = {
  ping: null,
  show: null,
  createTemporaryKey: { action: "key.temporary" },
} satisfies Audits<GatewayOperations>;

export interface GatewayDependencies {
  readonly accounts: AccountStore;
  readonly audit: AuditStore;
  /** Where a gateway was looked for. */
  readonly dataDir?: string | undefined;
  /** Absent when a command has opened the store itself. */
  readonly gateway?: RunningGateway | undefined;
}

export function gatewayOperations({
  accounts,
  audit: log,
  gateway,
  dataDir,
}: GatewayDependencies): Unbound<GatewayOperations, typeof gatewayAudits> {
  const running = () => {
    if (gateway === undefined)
      throw new Problem({
        code: "failed",
        message: `The gateway is not running.${dataDir === undefined ? "" : ` The data directory is ${dataDir}; if the gateway uses another one, set SVC_DATA_DIR.`}`,
        command: "serve",
      });
    return gateway;
  };
  return {
    ping: async () => ({ ok: true }),
    async createTemporaryKey({ account: name, owner }, { audit }) {
      const server = running();
      const account =
        name === undefined ? await usualAccount(accounts) : await findAccount(accounts, name);
      // Before the key works: no table holds it.
      await log.add(audit({ subject: account.name, accountId: account.id }));
      return toTemporaryKeyView({
        ...(await server.issueTemporaryKey(account.id, owner)),
        accountId: account.id,
        baseUrl: server.baseUrl(),
      });
    },
    show: async () => ({ base_url: running().baseUrl() }),
  };
}

/** The account to use if none is named. */
async function usualAccount(accounts: AccountStore): Promise<Account> {
  const all = await accounts.list();
  const account = all.find(({ name }) => name === "default") ?? all[0];
  if (account === undefined)
    throw new Problem({
      code: "not_found",
      message: "No account exists yet. Create one first.",
      command: "account create NAME",
    });
  if (all.length > 1 && account.name !== "default")
    throw new Problem({
      code: "invalid",
      field: "account",
      message: `There are ${all.length} accounts. Choose which one pays.`,
      command: "account list",
    });
  return account;
}

function toTemporaryKeyView(
  issued: TemporaryKey & { readonly accountId: string; readonly baseUrl: string },
): TemporaryKeyView {
  const { key, expiresAtMs, accountId, baseUrl } = issued;
  return { key, account: accountId, expires_at: toDateText(expiresAtMs), base_url: baseUrl };
}
