import type { AuditRecord } from "../base/audit.ts";
import type { Clock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { invalid, Problem } from "../base/problem.ts";
import type { Maker } from "./invites.ts";
import { checkName } from "./people.ts";
import { type Scope, scopes } from "./role.ts";
import { hashSecret, newSecret } from "./session-secrets.ts";
import type { PeopleStore, Token } from "./store.ts";

const prefix = "svc-token-";

export interface NewToken extends Pick<Token, "name" | "role" | "accountId" | "expiresAtMs"> {
  readonly scopes: readonly string[];
  readonly by: Maker;
}

/** For machines that use the platform's API. They call no models: that is what keys are for. */
export class Tokens {
  readonly #store: PeopleStore;
  readonly #clock: Clock;

  constructor(store: PeopleStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The secret is shown here and never again. */
  async create(
    wanted: NewToken,
    audit: (token: Token) => AuditRecord,
  ): Promise<{ readonly secret: string; readonly token: Token }> {
    checkName(wanted.name);
    const unknown = wanted.scopes.find((scope) => !scopes.some((known) => known === scope));
    if (wanted.scopes.length === 0 || unknown !== undefined)
      throw invalid({
        scopes: `Scopes must be one or more of ${scopes.join(", ")}${unknown === undefined ? "" : `, not "${unknown}"`}.`,
      });
    const nowMs = this.#clock.nowMs();
    const secret = newSecret(prefix);
    const { by, ...rest } = wanted;
    const token: Token = {
      ...rest,
      scopes: wanted.scopes as readonly Scope[],
      id: newId("token", nowMs),
      hash: hashSecret(secret),
      hint: `${prefix}…${secret.slice(-4)}`,
      createdBy: by.name,
      createdById: by.id,
      createdAtMs: nowMs,
    };
    await this.#store.addToken(token, audit(token));
    return { secret, token };
  }

  async find(secret: string): Promise<Token | undefined> {
    if (!secret.startsWith(prefix)) return undefined;
    const token = await this.#store.tokenByHash(hashSecret(secret));
    if (token === undefined || token.revokedAtMs !== undefined) return undefined;
    const { expiresAtMs } = token;
    return expiresAtMs !== undefined && expiresAtMs <= this.#clock.nowMs() ? undefined : token;
  }

  list(accountId: string | undefined): Promise<readonly Token[]> {
    return this.#store.tokens(accountId);
  }

  /** Of this account, or of the operator's, alone. */
  async revoke(
    { id, accountId }: { readonly id: string; readonly accountId: string | undefined },
    audit: (token: Token) => AuditRecord,
  ): Promise<Token> {
    const token = (await this.#store.tokens(accountId)).find((one) => one.id === id);
    if (token === undefined)
      throw new Problem({ code: "not_found", message: `Unknown token "${id}".` });
    const revokedAtMs = token.revokedAtMs ?? this.#clock.nowMs();
    await this.#store.revokeToken(id, revokedAtMs, audit(token));
    return { ...token, revokedAtMs };
  }
}
