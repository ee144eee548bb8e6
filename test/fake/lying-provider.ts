import {
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from "jose";
import { type Clock, systemClock } from "../../src/base/clock.ts";

/** What the provider does with one sign-in; what is not named is as it should be. */
export interface Lie {
  readonly claims?: JWTPayload;
  readonly omit?: readonly string[];
  readonly alg?: "none" | "HS256";
  readonly signedBy?: "foreign";
  readonly discovery?: Readonly<Record<string, unknown>>;
  /** In place of a document or an answer, by path. */
  readonly replies?: Readonly<Record<string, () => Response>>;
  /** The `iss` that the browser brings back. */
  readonly iss?: string;
  readonly state?: string;
}

export interface LyingProvider {
  readonly issuer: string;
  lie: Lie;
  /** The paths that it was asked for. */
  readonly requests: readonly string[];
  /** Another key from now on. */
  rotate(): Promise<void>;
  /** What the browser brings back from the address that it was sent to. */
  answer(url: string): string;
  /** What it sends by itself when a person signs out there. */
  logoutToken(): Promise<string>;
  stop(): Promise<void>;
}

export const lyingClient = "svc-of-the-lying-provider";

/** An identity provider that answers as a test wants it; only such a one can lie. */
export async function startLyingProvider(
  port: string,
  /** For logout tokens; the library checks ID tokens by the machine's clock. */
  clock: Clock = systemClock,
): Promise<LyingProvider> {
  const issuer = `http://127.0.0.1:${port}`;
  const newKey = () => generateKeyPair("RS256", { extractable: true });
  const foreign = await newKey();
  let own = await newKey();
  let kid = "one";
  let nonce = "";
  const requests: string[] = [];
  const provider: LyingProvider = {
    issuer,
    lie: {},
    requests,
    async rotate() {
      own = await newKey();
      kid = crypto.randomUUID();
    },
    answer(url) {
      const { searchParams } = new URL(url);
      nonce = searchParams.get("nonce") ?? "";
      const { iss = issuer, state = searchParams.get("state") ?? "" } = provider.lie;
      return `?${new URLSearchParams({ code: crypto.randomUUID(), state, iss })}`;
    },
    logoutToken() {
      const { claims, omit = [], ...lie } = provider.lie;
      const own = { events: { "http://schemas.openid.net/event/backchannel-logout": {} } };
      const isOfPerson = ["email", "email_verified", "groups", ...(claims?.nonce ? [] : ["nonce"])];
      const told = { ...own, jti: crypto.randomUUID(), ...claims };
      return signed({
        ...signing(),
        nowMs: clock.nowMs(),
        lie: { ...lie, claims: told, omit: [...isOfPerson, ...omit] },
      });
    },
    stop: () => server.stop(true),
  };
  const signing = () => ({
    issuer,
    nonce,
    nowMs: Date.now(),
    kid,
    lie: provider.lie,
    own,
    foreign,
  });
  const discovery = () => ({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/end`,
    authorization_response_iss_parameter_supported: true,
    ...provider.lie.discovery,
  });
  const paths: Readonly<Record<string, () => Promise<Response> | Response>> = {
    "/.well-known/openid-configuration": () => Response.json(discovery()),
    "/jwks": async () =>
      Response.json({
        keys: [{ ...(await exportJWK(own.publicKey)), kid, alg: "RS256", use: "sig" }],
      }),
    "/token": async () =>
      Response.json({
        access_token: "of no use",
        token_type: "Bearer",
        id_token: await signed(signing()),
      }),
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: Number(port),
    idleTimeout: 60,
    fetch(request) {
      const { pathname } = new URL(request.url);
      requests.push(pathname);
      const reply = provider.lie.replies?.[pathname] ?? paths[pathname];
      return reply?.() ?? new Response("not here", { status: 404 });
    },
  });
  return provider;
}

interface Signing {
  readonly issuer: string;
  readonly nonce: string;
  readonly nowMs: number;
  readonly kid: string;
  readonly lie: Lie;
  readonly own: GenerateKeyPairResult;
  readonly foreign: GenerateKeyPairResult;
}

async function signed(signing: Signing): Promise<string> {
  const { issuer, nonce, kid, lie, own, foreign } = signing;
  const nowS = Math.floor(signing.nowMs / 1_000);
  const claims: Record<string, unknown> = {
    iss: issuer,
    aud: lyingClient,
    sub: "person-1",
    nonce,
    iat: nowS,
    exp: nowS + 300,
    email: "honest@example.com",
    email_verified: true,
    groups: ["team"],
    ...lie.claims,
  };
  for (const name of lie.omit ?? []) delete claims[name];
  if (lie.alg === "none") return `${encode({ alg: "none" })}.${encode(claims)}.`;
  const jwt = new SignJWT(claims);
  if (lie.alg === "HS256")
    return jwt
      .setProtectedHeader({ alg: "HS256", kid })
      .sign(Buffer.from(JSON.stringify(await exportJWK(own.publicKey))));
  const { privateKey } = lie.signedBy === "foreign" ? foreign : own;
  return jwt.setProtectedHeader({ alg: "RS256", kid }).sign(privateKey);
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
