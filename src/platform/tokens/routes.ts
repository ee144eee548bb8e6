import { Type } from "typebox";
import { toDateText } from "../../base/dates.ts";
import { accountRoles, scopes } from "../../people/role.ts";
import type { Token } from "../../people/store.ts";
import { makerOf } from "../http/context.ts";
import { route } from "../http/route.ts";
import { fields, moment, nullable, oneOf, text } from "../http/schemas.ts";
import { futureDate } from "../inputs.ts";

const tokenReply = Type.Object({
  id: Type.String(),
  name: Type.String(),
  hint: Type.String(),
  role: Type.String(),
  scopes: Type.Array(Type.String()),
  status: oneOf(["active", "expired", "revoked"]),
  created_by: Type.String(),
  created_at: moment(),
  expires_at: nullable(moment()),
});

/** The one place where a token's secret is shown. */
const newTokenReply = Type.Object({ ...tokenReply.properties, token: Type.String() });

const shared = {
  name: text({ least: 1, most: 100 }),
  scopes: Type.Array(oneOf(scopes), { minItems: 1, maxItems: scopes.length }),
  expires: Type.Optional(text({ most: 40, about: "A day or a moment in UTC." })),
};

/** For machines that use this API: of an account, and of the operator. */
export const tokenRoutes = [
  route("GET /api/accounts/:account/tokens", {
    about: "The tokens of an account.",
    access: "owner",
    area: "members",
    reply: Type.Array(tokenReply),
    async handle({ parts, account }) {
      return toViews(await parts.tokens.list(account.id), parts.clock.nowMs());
    },
  }),
  route("POST /api/accounts/:account/tokens", {
    about:
      "Makes a token for a machine, with a role in the account and some scopes; its secret is shown this once.",
    access: "owner",
    body: fields({ ...shared, role: oneOf(accountRoles) }),
    reply: newTokenReply,
    action: "token.create",
    told: ({ body }, { id }) => ({ subject: id, detail: { ...body } }),
    async handle({ parts, account, actor }, { body: { expires, ...body } }) {
      const nowMs = parts.clock.nowMs();
      const { secret, token } = await parts.tokens.create({
        ...body,
        accountId: account.id,
        expiresAtMs: readExpiry(expires, nowMs),
        by: makerOf(actor),
      });
      return { ...toView(token, nowMs), token: secret };
    },
  }),
  route("DELETE /api/accounts/:account/tokens/:id", {
    about: "Revokes a token of the account at once.",
    access: "owner",
    area: "members",
    reply: tokenReply,
    action: "token.revoke",
    async handle({ parts, account }, { params }) {
      return toView(await parts.tokens.revoke(params.id, account.id), parts.clock.nowMs());
    },
  }),
  route("GET /api/tokens", {
    about: "The operator's tokens.",
    access: "operator",
    area: "settings",
    reply: Type.Array(tokenReply),
    async handle({ parts }) {
      return toViews(await parts.tokens.list(undefined), parts.clock.nowMs());
    },
  }),
  route("POST /api/tokens", {
    about: "Makes a token with the operator's role and some scopes; its secret is shown this once.",
    access: "operator",
    body: fields(shared),
    reply: newTokenReply,
    action: "token.create",
    told: ({ body }, { id }) => ({ subject: id, detail: { ...body } }),
    async handle({ parts, actor }, { body: { expires, ...body } }) {
      const nowMs = parts.clock.nowMs();
      const { secret, token } = await parts.tokens.create({
        ...body,
        role: "operator",
        accountId: undefined,
        expiresAtMs: readExpiry(expires, nowMs),
        by: makerOf(actor),
      });
      return { ...toView(token, nowMs), token: secret };
    },
  }),
  route("DELETE /api/tokens/:id", {
    about: "Revokes a token of the operator at once.",
    access: "operator",
    area: "settings",
    reply: tokenReply,
    action: "token.revoke",
    async handle({ parts }, { params }) {
      return toView(await parts.tokens.revoke(params.id, undefined), parts.clock.nowMs());
    },
  }),
] as const;

function readExpiry(expires: string | undefined, nowMs: number): number | undefined {
  if (expires === undefined || expires === "") return undefined;
  return futureDate({ text: expires, field: "expires", nowMs });
}

const toViews = (tokens: readonly Token[], nowMs: number) =>
  tokens.map((token) => toView(token, nowMs));

function toView(token: Token, nowMs: number) {
  const { expiresAtMs, revokedAtMs } = token;
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  const status = revokedAtMs !== undefined ? "revoked" : isExpired ? "expired" : "active";
  return {
    id: token.id,
    name: token.name,
    hint: token.hint,
    role: token.role,
    scopes: [...token.scopes],
    status: status as "active" | "expired" | "revoked",
    created_by: token.createdBy,
    created_at: toDateText(token.createdAtMs),
    expires_at: expiresAtMs === undefined ? null : toDateText(expiresAtMs),
  };
}
