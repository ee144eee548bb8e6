import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { FleetNode } from "../fleet/node.ts";
import type { KeyDirectory } from "../keys/directory.ts";
import type { Journal } from "../ledger/journal.ts";
import type { Purses } from "../ledger/purses.ts";
import type { ReasoningUse } from "../ledger/tokens/reasoning.ts";
import type { TokenCounter } from "../ledger/tokens/token-counter.ts";
import type { RequestLimiter } from "../limits/request-limiter.ts";
import type { StoredResponses } from "../responses/stored-responses.ts";
import type { Router } from "../router/router.ts";
import type { ActiveCalls } from "./active-calls.ts";
import type { Billing } from "./billing/billing.ts";
import type { RejectionLog, ReplyCounter } from "./failures.ts";
import type { Idempotency } from "./idempotency.ts";
import type { BodyBytes } from "./request/body-bytes.ts";
import type { Tracing } from "./tracing.ts";

/** What the data plane works with; one object, shared by all requests. */
export interface GatewayDependencies {
  readonly keys: KeyDirectory;
  readonly catalog: Catalog;
  readonly router: Router;
  readonly calls: ActiveCalls;
  readonly purses: Purses;
  readonly billing: Billing;
  readonly limiter: RequestLimiter;
  readonly journal: Journal;
  readonly idempotency: Idempotency;
  readonly counter: TokenCounter;
  readonly reasoning: ReasoningUse;
  readonly bodies: BodyBytes;
  readonly clock: Clock;
  readonly log: Log;
  readonly replyCounter: ReplyCounter;
  readonly rejections: RejectionLog;
  /** Undefined where the operator has not switched tracing on. */
  readonly tracing?: Tracing | undefined;
  /** Undefined where the operator has not switched storing on. */
  readonly responses: StoredResponses | undefined;
  readonly origins: ReadonlySet<string>;
  /** Where several processes share a database: whether this one knows what the others did. */
  readonly gate?: Pick<FleetNode, "isFresh" | "isStuck" | "refresh"> | undefined;
  readonly publicUrl: () => string;
}
