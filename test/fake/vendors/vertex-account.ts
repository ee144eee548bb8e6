/** A service account and the server that it signs in at, as Google documents them. */

import { createVerify, generateKeyPairSync } from "node:crypto";
import { jsonReply, type Recording } from "../http/reply.ts";

/** Made on the spot: a key in a file would be somebody's. */
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

export const accountKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
export const accountEmail = "gateway@operators-project.iam.gserviceaccount.com";

/** The text of a key file. */
export function serviceAccount(
  tokenUrl: string,
  changes: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({
    type: "service_account",
    project_id: "operators-project",
    private_key_id: "4f1c9a7be0",
    private_key: accountKeyPem,
    client_email: accountEmail,
    client_id: "104857600000000000000",
    token_uri: tokenUrl,
    universe_domain: "googleapis.com",
    ...changes,
  });
}

/** What `gcloud auth application-default login` writes. */
export function authorizedUser(tokenUrl: string): string {
  return JSON.stringify({
    type: "authorized_user",
    client_id: "764086051850-operators.apps.googleusercontent.com",
    client_secret: "d-secret-of-the-client",
    refresh_token: "1//0refresh-of-the-operator",
    quota_project_id: "operators-project",
    token_uri: tokenUrl,
  });
}

export interface ReadAssertion {
  readonly grantType: string | null;
  readonly head: unknown;
  readonly claims: { readonly iat: number; readonly exp: number } & Readonly<
    Record<string, unknown>
  >;
}

/** Reads a posted form; throws if the account's key did not sign it. */
export function readAssertion(form: string): ReadAssertion {
  const fields = new URLSearchParams(form);
  const [head = "", claims = "", signature = ""] = (fields.get("assertion") ?? "").split(".");
  const isSigned = createVerify("RSA-SHA256")
    .update(`${head}.${claims}`)
    .verify(publicKey, signature, "base64url");
  if (!isSigned) throw new Error("the assertion is not signed with the account's key");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  return { grantType: fields.get("grant_type"), head: read(head), claims: read(claims) };
}

const headers = { "cache-control": "private", server: "scaffolding on HTTPServer2" };

export function tokenReply(token: string, expiresInS = 3599): Recording {
  const body = { access_token: token, expires_in: expiresInS, token_type: "Bearer" };
  return jsonReply({ headers, body });
}

function refusal(status: number, error: string, error_description: string): Recording {
  return jsonReply({ status, headers, body: { error, error_description } });
}

export const signInRefusals = {
  badSignature: () => refusal(400, "invalid_grant", "Invalid JWT Signature."),
  wrongClock: () =>
    refusal(
      400,
      "invalid_grant",
      "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.",
    ),
  noAccount: () => refusal(400, "invalid_grant", "Invalid grant: account not found"),
  revoked: () => refusal(400, "invalid_grant", "Token has been expired or revoked."),
  disabled: () => refusal(401, "disabled_client", "The OAuth client was disabled."),
  broken: () => refusal(503, "backend_error", "Backend error"),
} as const;
