import { call } from "../../../api.ts";

export interface Grant {
  readonly key: string;
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly expiresAtMs: number;
}

/** A call may take minutes; it must not begin with a key that is about to end. */
const renewBeforeMs = 2 * 60_000;

/** The page's own key for the gateway: in memory only, and renewed before it ends. */
export class GatewayAccess {
  readonly #account: string;
  #grant: Promise<Grant> | undefined;
  #renewAtMs = 0;

  constructor(account: string) {
    this.#account = account;
  }

  grant(): Promise<Grant> {
    if (this.#grant !== undefined && Date.now() < this.#renewAtMs) return this.#grant;
    const grant = this.#make();
    this.#grant = grant;
    this.#renewAtMs = Number.POSITIVE_INFINITY;
    grant.then(
      ({ expiresAtMs }) => {
        this.#renewAtMs = expiresAtMs - renewBeforeMs;
      },
      () => this.forget(),
    );
    return grant;
  }

  /** The gateway no longer takes it, as after a restart. */
  forget(): void {
    this.#grant = undefined;
  }

  async #make(): Promise<Grant> {
    const reply = await call("POST /api/accounts/:account/playground-key", {
      params: { account: this.#account },
    });
    return {
      key: reply.key,
      baseUrl: reply.base_url,
      expiresAtMs: Date.parse(reply.expires_at),
    };
  }
}
