/** How each part is taken out of the gateway of a checkout, before its server is loaded. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/call/chat.ts";
import type { Model } from "../../src/catalog/model.ts";
import type { ChatNeed } from "../../src/gateway/endpoints/chat/chat-money.ts";
import type { Exchange } from "../../src/gateway/exchange.ts";
import type { ReadBodyOptions, RequestBody } from "../../src/gateway/request/read-body.ts";
import type { ServedCall } from "../../src/gateway/served-call.ts";
import type { KeyRecord } from "../../src/keys/directory.ts";
import type { LedgerWrite } from "../../src/ledger/store.ts";
import type { Attempt, RoutedCall } from "../../src/router/attempt.ts";
import type { RouterOptions } from "../../src/router/router.ts";
import type { CompletionOrder } from "../../src/wire/v1/chat/call.ts";
import { limitedBilling, unlimitedBilling } from "./billing.ts";
import { type Checkout, replaceMethods } from "./checkout.ts";
import type { PartName } from "./parts.ts";

type Remove = (checkout: Checkout, root: string) => Promise<void>;

export const removals: Readonly<Record<PartName, Remove>> = {
  metrics: removeMetrics,
  sums: removeSums,
  sync: removeSync,
  receipt: removeReceipt,
  hold: removeHold,
  limits: removeLimits,
  headers: removeHeaders,
  abort: removeAbort,
  router: removeRouter,
  validation: removeValidation,
  key: removeKey,
};

const done = Promise.resolve();
const nothing = () => {};

/** Left: the event loop's lag, sampled 20 times per second. Nobody follows recent calls. */
async function removeMetrics(checkout: Checkout): Promise<void> {
  type Module = typeof import("../../src/telemetry/traffic.ts");
  await checkout.replaceExports<Module>("src/telemetry/traffic.ts", ({ Traffic }) => ({
    Traffic: class extends Traffic {
      override readonly watch = nothing;

      override count(): void {}

      override countRejection(): void {}
    },
  }));
}

/** What is added up in memory per receipt. So nothing is written once per minute either. */
async function removeSums(checkout: Checkout): Promise<void> {
  type Rollups = typeof import("../../src/ledger/rollups.ts");
  type Minutes = typeof import("../../src/ledger/minutes.ts");
  type Uses = typeof import("../../src/keys/uses.ts");
  type Reasoning = typeof import("../../src/ledger/tokens/reasoning.ts");
  type Failures = typeof import("../../src/ledger/provider-failures.ts");
  const { Rollups } = await checkout.load<Rollups>("src/ledger/rollups.ts");
  const { Minutes } = await checkout.load<Minutes>("src/ledger/minutes.ts");
  const { KeyUses } = await checkout.load<Uses>("src/keys/uses.ts");
  const { ReasoningUse } = await checkout.load<Reasoning>("src/ledger/tokens/reasoning.ts");
  const { ProviderFailures } = await checkout.load<Failures>("src/ledger/provider-failures.ts");
  replaceMethods(Rollups, { add: nothing });
  replaceMethods(Minutes, { add: nothing });
  replaceMethods(KeyUses, { add: nothing });
  replaceMethods(ReasoningUse, { note: nothing });
  replaceMethods(ProviderFailures, { add: nothing });
}

/**
 * Resolves on the next turn of the event loop, once for all that ask in this one: replies still
 * leave on a later turn, and receipts still gather to about the same batches. The first one is real,
 * because others use the file that it opens.
 */
async function removeSync(checkout: Checkout): Promise<void> {
  type Module = typeof import("../../src/store/sqlite/ledger/wal-sync.ts");
  const { WalSync } = await checkout.load<Module>("src/store/sqlite/ledger/wal-sync.ts");
  const real = WalSync.prototype.sync;
  let next: Promise<void> | undefined;
  replaceMethods(WalSync, {
    sync(): Promise<void> {
      if (this.fd === undefined) return real.call(this);
      next ??= new Promise((resolve) =>
        setImmediate(() => {
          next = undefined;
          resolve();
        }),
      );
      return next;
    },
  });
}

/** Resolves at once. The purses still learn that a receipt stands, or their list would grow. */
async function removeReceipt(checkout: Checkout): Promise<void> {
  type Ledger = typeof import("../../src/ledger/purses.ts");
  type Module = typeof import("../../src/ledger/journal.ts");
  const { Purses } = await checkout.load<Ledger>("src/ledger/purses.ts");
  const { Journal } = await checkout.load<Module>("src/ledger/journal.ts");
  const { start } = Purses.prototype;
  let committed: (id: string) => void = nothing;
  replaceMethods(Purses, {
    start(nowMs?: number): Promise<void> {
      committed = (id) => this.committed(id);
      return start.call(this, nowMs);
    },
  });
  replaceMethods(Journal, {
    append(write: LedgerWrite): Promise<void> {
      if (write.type === "receipt") committed(write.receipt.id);
      return done;
    },
  });
}

async function removeHold(checkout: Checkout): Promise<void> {
  type Module = typeof import("../../src/gateway/billing/billing.ts");
  type Permits = typeof import("../../src/limits/permit.ts");
  const permits = await checkout.load<Permits>("src/limits/permit.ts");
  await checkout.replaceExports<Module>("src/gateway/billing/billing.ts", (real) => ({
    LedgerBilling: limitedBilling(real, permits),
  }));
}

/** The exchange has no purse, so it asks no limiter and writes no x-ratelimit headers. */
async function removeLimits(checkout: Checkout): Promise<void> {
  type Module = typeof import("../../src/gateway/billing/billing.ts");
  type Bodies = typeof import("../../src/gateway/request/body-bytes.ts");
  await checkout.replaceExports<Module>("src/gateway/billing/billing.ts", () => ({
    LedgerBilling: unlimitedBilling,
  }));
  const { BodyBytes } = await checkout.load<Bodies>("src/gateway/request/body-bytes.ts");
  const held = { sizeBytes: 0, grow: nothing, admitted: nothing, release: nothing };
  replaceMethods(BodyBytes, { open: () => held });
}

/** Every request has the same id. */
async function removeHeaders(checkout: Checkout): Promise<void> {
  type Module = typeof import("../../src/gateway/exchange.ts");
  type Ids = typeof import("../../src/base/ids.ts");
  await checkout.replaceExports<Ids>("src/base/ids.ts", ({ newId }) => {
    const requestId = newId("req");
    return {
      newId: (...options: Parameters<typeof newId>) =>
        options[0] === "req" ? requestId : newId(...options),
    };
  });
  const { Exchange } = await checkout.load<Module>("src/gateway/exchange.ts");
  replaceMethods(Exchange, {
    reply(body: BodyInit | null, contentType: string, status = 200): Response {
      const headers = { "content-type": contentType, "x-request-id": this.requestId };
      return new Response(body, { status, headers });
    },
  });
}

/** All calls are one call that never ends, and the provider gets a signal that is never aborted. */
async function removeAbort(checkout: Checkout, root: string): Promise<void> {
  type Calls = typeof import("../../src/gateway/active-calls.ts");
  type Served = typeof import("../../src/gateway/served-call.ts");
  const { ActiveCalls } = await checkout.load<Calls>("src/gateway/active-calls.ts");
  const { ServedCall } = await checkout.load<Served>("src/gateway/served-call.ts");
  // Where calls have signals of our own, any object will do; before, fetch took the runtime's only.
  const signal = existsSync(join(root, "src/call/signal.ts"))
    ? { aborted: false, addEventListener: nothing, removeEventListener: nothing }
    : new AbortController().signal;
  const call = {
    accountId: "",
    signal,
    isLeft: false,
    isLong: false,
    isOver: false,
    isReadingOn: false,
    beginAttempt: nothing,
    onDial: nothing,
    heard: nothing,
  };
  replaceMethods(ActiveCalls, { begin: () => call, end: nothing });
  replaceMethods(ServedCall, {
    run(serve: (served: ServedCall) => Promise<Response>): Promise<Response> {
      return serve(this).catch((error: unknown) => this.fail(error));
    },
    end(error?: unknown): void {
      if (error !== undefined) throw error;
      this.exchange.leave();
    },
  });
}

/** The first model that is called, and its first route, serve all calls. */
async function removeRouter(checkout: Checkout): Promise<void> {
  type Module = typeof import("../../src/router/router.ts");
  type Find = typeof import("../../src/gateway/request/find-model.ts");
  await checkout.replaceExports<Module>("src/router/router.ts", ({ Router }) => ({
    Router: class extends Router {
      readonly #find: RouterOptions["findProvider"];
      #only: Attempt | undefined;

      constructor(options: RouterOptions) {
        super(options);
        this.#find = options.findProvider;
      }

      override serve<T>(
        model: Model,
        _call: RoutedCall,
        run: (attempt: Attempt) => Promise<T>,
      ): Promise<T> {
        this.#only ??= this.#attemptAt(model);
        return run(this.#only);
      }

      #attemptAt({ routes: [target] }: Model): Attempt {
        const provider = target && this.#find(target.provider);
        return { provider, target } as unknown as Attempt;
      }
    },
  }));
  await checkout.replaceExports<Find>("src/gateway/request/find-model.ts", ({ chooseModel }) => {
    let chosen: ReturnType<typeof chooseModel> | undefined;
    return {
      chooseModel: (options: Parameters<typeof chooseModel>[0]) =>
        (chosen ??= chooseModel(options)),
    };
  });
}

async function removeValidation(checkout: Checkout): Promise<void> {
  type Body = typeof import("../../src/gateway/request/read-body.ts");
  type Call = typeof import("../../src/wire/v1/chat/call.ts");
  type Money = typeof import("../../src/gateway/endpoints/chat/chat-money.ts");
  await checkout.replaceExports<Body>("src/gateway/request/read-body.ts", () => ({
    announcedBytes: () => 0,
    readBody: ({ request }: ReadBodyOptions): Promise<RequestBody> =>
      request.json().then((fields) => ({ fields, hash: undefined })),
    isLargeBody: () => false,
    checkTextBytes: nothing,
  }));
  await checkout.replaceExports<Call>("src/wire/v1/chat/call.ts", () => ({
    toChatOrder: trustedOrder,
  }));
  await checkout.replaceExports<Money>("src/gateway/endpoints/chat/chat-money.ts", () => ({
    chatNeed: ({ order }: { readonly order: CompletionOrder }): ChatNeed => {
      const cap = order.call.maxOutputTokens ?? 0;
      const need = { units: {}, fixed: 0n, perToken: 0n, cap, isCapNamed: true };
      return { need, tokens: 0, aboutInputTokens: 0, isShortened: false };
    },
  }));
}

function trustedOrder(body: JsonObject): CompletionOrder {
  const { model: _, messages, max_tokens, stream, ...options } = body;
  return {
    call: {
      messages: messages as readonly JsonObject[],
      maxOutputTokens: max_tokens as number | undefined,
      options,
    },
    stream: stream === true,
    includeUsage: false,
    choices: 1,
    isCapNamed: true,
  };
}

/** The header with the key is not even read. */
async function removeKey(checkout: Checkout): Promise<void> {
  type Module = typeof import("../../src/gateway/request/authenticate.ts");
  type Keys = typeof import("../../src/keys/directory.ts");
  const key: KeyRecord = {
    id: "key_0",
    accountId: "acct_0",
    name: "",
    hash: "",
    hint: "",
    createdAtMs: 0,
  };
  await checkout.replaceExports<Module>("src/gateway/request/authenticate.ts", () => ({
    authenticate: (exchange: Exchange): KeyRecord => (exchange.key = key),
  }));
  const { KeyDirectory } = await checkout.load<Keys>("src/keys/directory.ts");
  replaceMethods(KeyDirectory, { current: (record: KeyRecord) => record });
}
