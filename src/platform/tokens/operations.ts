import type { Clock } from "../../base/clock.ts";
import { toDateText } from "../../base/dates.ts";
import type { People } from "../../people/people.ts";
import type { AccountRole, Scope } from "../../people/role.ts";
import type { Token } from "../../people/store.ts";
import { Tokens } from "../../people/tokens.ts";
import { type Audits, makerOf, omit, type Unbound } from "../audit/author.ts";
import { futureDate } from "../input/values.ts";
import type { TokenView } from "./schemas.ts";

export interface TokenOperations {
  /** Of an account; of the operator where none is named. The secret is shown this once. */
  create(input: {
    account?: string;
    name: string;
    role: AccountRole | "operator";
    scopes: readonly Scope[];
    expires?: string;
  }): Promise<TokenView & { readonly token: string }>;
  list(input: { account?: string }): Promise<readonly TokenView[]>;
  revoke(input: { account?: string; id: string }): Promise<TokenView>;
}

export const tokenAudits = {
  create: { action: "token.create", detail: (input) => omit(input, "account") },
  list: null,
  revoke: { action: "token.revoke" },
} satisfies Audits<TokenOperations>;

export function tokenOperations({
  people,
  clock,
  gateway,
}: {
  readonly people: People;
  readonly clock: Clock;
  readonly gateway?: { endTemporaryKeys(owner: string): Promise<void> } | undefined;
}): Unbound<TokenOperations, typeof tokenAudits> {
  const tokens = new Tokens(people.store, clock);
  return {
    async create({ account: accountId, expires = "", ...given }, { actor, audit }) {
      const nowMs = clock.nowMs();
      const expiresAtMs =
        expires === "" ? undefined : futureDate({ text: expires, field: "expires", nowMs });
      const { secret, token } = await tokens.create(
        { ...given, accountId, expiresAtMs, by: makerOf(actor) },
        (token) => audit(aboutToken(token)),
      );
      return { ...toView(token, nowMs), token: secret };
    },
    async list({ account }) {
      const nowMs = clock.nowMs();
      return (await tokens.list(account)).map((token) => toView(token, nowMs));
    },
    async revoke({ account: accountId, id }, { audit }) {
      const revoked = await tokens.revoke({ id, accountId }, (token) => audit(aboutToken(token)));
      await gateway?.endTemporaryKeys(id);
      return toView(revoked, clock.nowMs());
    },
  };
}

/** By name and hint, like keys: an id means nothing to a reader. */
const aboutToken = ({ accountId, name, hint }: Token) => ({
  accountId,
  subject: `${name} (${hint})`,
});

function toView(token: Token, nowMs: number): TokenView {
  const { expiresAtMs, revokedAtMs } = token;
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  return {
    id: token.id,
    name: token.name,
    hint: token.hint,
    role: token.role,
    scopes: [...token.scopes],
    status: revokedAtMs !== undefined ? "revoked" : isExpired ? "expired" : "active",
    created_by: token.createdBy,
    created_at: toDateText(token.createdAtMs),
    expires_at: expiresAtMs === undefined ? null : toDateText(expiresAtMs),
  };
}
