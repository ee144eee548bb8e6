import type { AuditStore } from "../base/audit.ts";
import type { CatalogStore } from "../catalog/catalog.ts";
import type { KeyStore } from "../keys/directory.ts";
import type { AccountStore } from "../ledger/account.ts";
import type { LedgerReports } from "../ledger/reports.ts";
import type { Factors } from "../people/factors/factors.ts";
import type { Identities } from "../people/identity/identities.ts";
import type { Invites } from "../people/invites.ts";
import type { People } from "../people/people.ts";
import type { Area } from "../people/role.ts";
import type { RejectionReports } from "../rejections/rejection.ts";
import { actorOf, type KitDependencies, type RequestContext } from "./http/context.ts";
import { type RouteTerms, routeFor } from "./http/route.ts";
import type { Live } from "./live/live.ts";
import { forActor, type Operations, type UnboundOperations } from "./operations.ts";

/** What the routes work with. */
export interface PlatformDependencies extends KitDependencies {
  readonly operations: UnboundOperations;
  readonly audit: AuditStore;
  readonly people: People;
  readonly factors: Factors;
  /** Undefined: no identity provider is set up. */
  readonly identities: Identities | undefined;
  readonly invites: Invites;
  readonly accounts: AccountStore;
  readonly keys: Pick<KeyStore, "all" | "names">;
  readonly catalog: CatalogStore;
  readonly reports: LedgerReports & RejectionReports;
  readonly live: Live;
  /** Whether a mail server is set. */
  readonly sendsMail: boolean;
  readonly version: string;
  /** Where callers reach the gateway; without /v1. */
  readonly gatewayUrl: () => string;
  /** For people to see; secrets are not in it. */
  readonly settings: readonly SettingView[];
}

export interface SettingView {
  readonly name: string;
  /** Null if it can only be set in the environment. */
  readonly nameInFile: string | null;
  readonly value: string | null;
  readonly source: string;
  readonly about: string;
}

interface PlatformContext {
  readonly dependencies: PlatformDependencies;
  /** On behalf of the caller. */
  readonly operations: Operations;
}

export type Context = RequestContext & PlatformContext;

export const route = routeFor<Context>();
/** Routes with the same access rule and token scope. */
export const routeWith = (shared: Required<Pick<RouteTerms, "access" | "area">>) =>
  routeFor<Context, "access" | "area">(shared);
/** Routes of one area, for operators. */
export const operatorRoute = (area: Area) => routeWith({ access: "operator", area });

/** What a request has beyond the kit. */
export function extendContext(
  dependencies: PlatformDependencies,
): (request: RequestContext) => PlatformContext {
  return ({ actor, visitor }) => ({
    dependencies,
    operations: forActor(dependencies.operations, {
      actor: { ...actorOf(actor), address: visitor.address },
      clock: dependencies.clock,
      onRightsChanged: () => dependencies.live.recheck(),
    }),
  });
}
