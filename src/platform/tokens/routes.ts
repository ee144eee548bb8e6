import { Type } from "../../base/json/type.ts";
import { accountRoles, scopes } from "../../people/role.ts";
import { route } from "../context.ts";
import { fields, oneOf, text } from "../http/schemas.ts";
import { newTokenReply, tokenReply } from "./schemas.ts";

const shared = {
  name: text({ least: 1, most: 100 }),
  scopes: Type.Array(oneOf(scopes), { minItems: 1, maxItems: scopes.length }),
  expires: Type.Optional(text({ most: 40, about: "Day or time in UTC." })),
};

/** For machines that use this API: of an account, and of the operator. */
export const tokenRoutes = [
  route("GET /api/accounts/:account/tokens", {
    about: "Lists the tokens of an account.",
    access: "owner",
    area: "members",
    reply: Type.Array(tokenReply),
    handle: ({ operations, account }) => operations.tokens.list({ account: account.id }),
  }),
  route("POST /api/accounts/:account/tokens", {
    about:
      "Creates a token for programs, with a role in the account and scopes. The secret is shown only once.",
    access: "owner",
    body: fields({ ...shared, role: oneOf(accountRoles) }),
    reply: newTokenReply,
    handle: ({ operations, account }, { body }) =>
      operations.tokens.create({ ...body, account: account.id }),
  }),
  route("DELETE /api/accounts/:account/tokens/:id", {
    about: "Revokes a token of an account, effective immediately.",
    access: "owner",
    area: "members",
    reply: tokenReply,
    handle: ({ operations, account }, { params }) =>
      operations.tokens.revoke({ account: account.id, id: params.id }),
  }),
  route("GET /api/tokens", {
    about: "Lists the operator tokens.",
    access: "operator",
    area: "settings",
    reply: Type.Array(tokenReply),
    handle: ({ operations }) => operations.tokens.list({}),
  }),
  route("POST /api/tokens", {
    about: "Creates a token with the operator role and scopes. The secret is shown only once.",
    access: "operator",
    needsRecent: true,
    body: fields(shared),
    reply: newTokenReply,
    handle: ({ operations }, { body }) => operations.tokens.create({ ...body, role: "operator" }),
  }),
  route("DELETE /api/tokens/:id", {
    about: "Revokes an operator token, effective immediately.",
    access: "operator",
    area: "settings",
    reply: tokenReply,
    handle: ({ operations }, { params }) => operations.tokens.revoke({ id: params.id }),
  }),
] as const;
