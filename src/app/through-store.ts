import type { Clock } from "../base/clock.ts";
import { SignedKeys } from "../keys/signed-keys.ts";
import type { RunningGateway } from "../platform/gateway/operations.ts";
import type { Opened } from "./opened.ts";

/** All gateways that share the database; undefined where it belongs to one process. */
export function throughStore(
  { shared, secrets }: Pick<Opened, "shared" | "secrets">,
  clock: Clock,
): Omit<RunningGateway, "baseUrl"> | undefined {
  if (shared === undefined) return undefined;
  const signed = new SignedKeys(secrets.keyHashKey);
  return {
    ...shared.targets,
    issueTemporaryKey: async (accountId, owner) => signed.issue(accountId, clock.nowMs(), owner),
    endTemporaryKeys: (owner) => shared.endedOwners.end(owner, clock.nowMs()),
  };
}
