import type { JSONWebKeySet } from "jose";
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from "openid-client";
import { type Clock, monotonicMs } from "../../base/clock.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { type Claims, lacksClaims, readClaims } from "./claims.ts";
import { IdentityRefused, IdentityUnavailable } from "./failures.ts";
import type { Flow } from "./flow.ts";
import {
  checkLikely,
  type LoggedOut,
  LogoutRefused,
  readLogoutToken,
  UnknownKey,
} from "./logout-token.ts";

export interface IdentityProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Without one, PKCE alone shows that both requests come from here. */
  readonly clientSecret: string | undefined;
  readonly clientAuth: "basic" | "post";
  readonly name: string;
  readonly scopes: string;
  readonly groupsClaim: string;
  /** Of each request; 10 s unless a test wants less. */
  readonly timeoutS?: number;
}

const usualTimeoutS = 10;
/** How far the clocks of both sides may be apart. */
const skewS = 30;
const freshMs = 600_000;
/** A provider that is down is not asked by every visitor. */
const failedMs = 5_000;
/** For logout tokens, the keys are read at most once in this time. */
const keysMs = 5_000;
const longestSearch = 8_000;

/** Of these, only the provider has the key that signs. */
const signatures = new Set(
  ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].concat([
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
  ]),
);

/**
 * The company's identity provider. The library checks each answer: state, issuer, audience,
 * authorized party, nonce, times and signature. Where the provider does not answer, nobody can sign
 * in through it; sessions that have begun go on. Its description is kept for ten minutes. Its keys
 * are read at each sign-in, so that a key that was replaced works at once.
 */
export class IdentityProvider {
  readonly name: string;
  readonly issuer: string;
  readonly #options: IdentityProviderOptions;
  readonly #clock: Clock;
  #known: { readonly metadata: ServerMetadata; readonly untilMs: number } | undefined;
  #failed: { readonly error: unknown; readonly untilMs: number } | undefined;
  #asking: Promise<ServerMetadata> | undefined;
  #keys: { readonly askedMs: number; readonly keys: Promise<JSONWebKeySet> } | undefined;

  constructor(options: IdentityProviderOptions, clock: Clock) {
    this.name = options.name;
    this.issuer = options.issuer;
    this.#options = options;
    this.#clock = clock;
  }

  async begin(redirectUri: string): Promise<{ readonly url: string; readonly flow: Flow }> {
    const client = await this.#client();
    const flow = {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
      redirectUri,
    };
    const url = buildAuthorizationUrl(client, {
      redirect_uri: redirectUri,
      scope: this.#options.scopes,
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, flow };
  }

  /** What the browser brought back, exchanged for what the provider knows about the person. */
  async complete(search: string, flow: Flow): Promise<Claims> {
    const client = await this.#client();
    try {
      const url = new URL(flow.redirectUri);
      url.search = search.slice(0, longestSearch);
      const tokens = await authorizationCodeGrant(client, url, {
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        pkceCodeVerifier: flow.verifier,
        idTokenExpected: true,
      });
      const token = tokens.claims();
      if (token === undefined || tokens.id_token === undefined)
        throw new IdentityRefused("its answer has no ID token", "no ID token");
      const { groupsClaim, clientId } = this.#options;
      // The library compares it only if there are several audiences.
      if (token.azp !== undefined && token.azp !== clientId)
        throw new IdentityRefused(claimReasons.azp, "azp");
      const isAsked =
        lacksClaims(token, groupsClaim) && client.serverMetadata().userinfo_endpoint !== undefined;
      const userInfo = isAsked
        ? await fetchUserInfo(client, tokens.access_token, token.sub)
        : undefined;
      return readClaims({ idToken: tokens.id_token, token, userInfo, groupsClaim });
    } catch (error) {
      throw this.#problemOf(error);
    }
  }

  /** Where the browser signs out of the provider, too; undefined: it has no such page. */
  async logoutUrl(options: {
    readonly idToken: string | undefined;
    readonly returnTo: string;
  }): Promise<string | undefined> {
    try {
      // What was known before is enough: a provider that hangs must not delay a sign-out.
      const client = await this.#client(this.#known?.metadata);
      if (client.serverMetadata().end_session_endpoint === undefined) return undefined;
      const { idToken, returnTo } = options;
      return buildEndSessionUrl(client, {
        post_logout_redirect_uri: returnTo,
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      }).href;
    } catch {
      // Who signs out here is signed out here, whatever the provider does.
      return undefined;
    }
  }

  /** Checks a logout token. */
  async readLogout(token: string): Promise<LoggedOut> {
    const { issuer, jwks_uri: keysUrl = "", ...rest } = await this.#metadata();
    const { clientId } = this.#options;
    const algorithms = rest.id_token_signing_alg_values_supported ?? [];
    const expected = { issuer, clientId, algorithms, skewS, nowMs: this.#clock.nowMs() };
    checkLikely(token, expected);
    const { keys, isNew } = this.#keysAt(keysUrl);
    const known = await keys;
    try {
      return await readLogoutToken(token, known, expected);
    } catch (error) {
      if (error instanceof LogoutRefused) throw error;
      if (error instanceof UnknownKey && isNew)
        throw new LogoutRefused("the provider does not publish the key that signed it", {
          isCounted: true,
          cause: error,
        });
      // The key may have been replaced since the keys were read: the provider can send it again.
      throw new IdentityUnavailable(this.name, `logout token: ${detailOf(error)}`, error);
    }
  }

  /** Kept for a few seconds: anyone can send a token that looks valid. */
  #keysAt(url: string): { readonly keys: Promise<JSONWebKeySet>; readonly isNew: boolean } {
    const nowMs = this.#elapsedMs();
    const known = this.#keys;
    if (known !== undefined && nowMs - known.askedMs < keysMs)
      return { keys: known.keys, isNew: false };
    const keys = this.#readKeys(url);
    this.#keys = { askedMs: nowMs, keys };
    return { keys, isNew: true };
  }

  #elapsedMs(): number {
    return this.#clock.elapsedMs?.() ?? monotonicMs();
  }

  async #readKeys(url: string): Promise<JSONWebKeySet> {
    try {
      const signal = AbortSignal.timeout((this.#options.timeoutS ?? usualTimeoutS) * 1_000);
      const headers = { accept: "application/json" };
      const asked = {
        method: "GET",
        headers,
        body: undefined,
        redirect: "manual",
        signal,
      } as const;
      const reply = await boundedFetch(url, asked);
      const keys: unknown = reply.ok ? await reply.json() : undefined;
      if (!isKeySet(keys)) throw new Error(`no keys at ${url} (${reply.status})`);
      return keys;
    } catch (cause) {
      throw new IdentityUnavailable(this.name, detailOf(cause), cause);
    }
  }

  /** For `svc doctor`: asks the provider now. */
  async check(): Promise<{ readonly hasLogout: boolean; readonly hasBackChannel: boolean }> {
    this.#known = undefined;
    this.#failed = undefined;
    const found = (await this.#client()).serverMetadata();
    return {
      hasLogout: found.end_session_endpoint !== undefined,
      hasBackChannel: found["backchannel_logout_supported"] === true,
    };
  }

  /** Each has no keys yet. */
  async #client(known?: ServerMetadata): Promise<Configuration> {
    const { clientId, clientSecret, clientAuth } = this.#options;
    const auth =
      clientSecret === undefined
        ? None()
        : clientAuth === "post"
          ? ClientSecretPost(clientSecret)
          : ClientSecretBasic(clientSecret);
    const metadata = known ?? (await this.#metadata());
    const client = new Configuration(metadata, clientId, { [clockTolerance]: skewS }, auth);
    client.timeout = this.#options.timeoutS ?? usualTimeoutS;
    client[customFetch] = boundedFetch;
    // The library would otherwise trust what came over TLS from the token endpoint.
    enableNonRepudiationChecks(client);
    if (this.#isLocal) allowInsecureRequests(client);
    return client;
  }

  /** Settings allow http on this machine alone. */
  get #isLocal(): boolean {
    return this.issuer.startsWith("http:");
  }

  async #metadata(): Promise<ServerMetadata> {
    const nowMs = this.#elapsedMs();
    if (this.#known !== undefined && this.#known.untilMs > nowMs) return this.#known.metadata;
    if (this.#failed !== undefined && this.#failed.untilMs > nowMs) throw this.#failed.error;
    this.#asking ??= this.#discover().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #discover(): Promise<ServerMetadata> {
    try {
      const found = await discovery(
        new URL(this.issuer),
        this.#options.clientId,
        undefined,
        None(),
        {
          timeout: this.#options.timeoutS ?? usualTimeoutS,
          [customFetch]: boundedFetch,
          ...(this.#isLocal ? { execute: [allowInsecureRequests] } : {}),
        },
      );
      const metadata = usable(found.serverMetadata(), this.issuer);
      this.#known = { metadata, untilMs: this.#elapsedMs() + freshMs };
      this.#failed = undefined;
      return metadata;
    } catch (cause) {
      const error = new IdentityUnavailable(this.name, detailOf(cause), cause);
      this.#failed = { error, untilMs: this.#elapsedMs() + failedMs };
      throw error;
    }
  }

  #problemOf(error: unknown): unknown {
    if (error instanceof IdentityRefused) return error;
    const detail = detailOf(error);
    if (error instanceof AuthorizationResponseError)
      return new IdentityRefused(
        error.error === "access_denied"
          ? "it did not sign you in (access_denied). Try again, or ask whether you may use this application"
          : `it did not sign you in (${plain(error.error)}). Ask an operator to check the client at the provider`,
        detail,
        { cause: error },
      );
    if (error instanceof ResponseBodyError)
      return new IdentityRefused(
        error.error === "invalid_grant"
          ? "the sign-in was already completed or took too long. Start again"
          : `it did not accept this platform (${plain(error.error)}). Ask an operator to check SVC_OIDC_CLIENT_ID and SVC_OIDC_CLIENT_SECRET`,
        detail,
        { cause: error },
      );
    const reason = error instanceof ClientError ? reasonOf(error) : undefined;
    return reason === undefined
      ? new IdentityUnavailable(this.name, detail, error)
      : new IdentityRefused(reason, detail, { cause: error });
  }
}

const isKeySet = (value: unknown): value is JSONWebKeySet =>
  isObject(value) &&
  "keys" in value &&
  Array.isArray(value.keys) &&
  value.keys.length > 0 &&
  value.keys.every(isObject);

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/**
 * The library trusts the document, so it is checked for what we rely on. Runtimes can read files
 * and other schemes, so an address must be https, or http if the issuer itself is.
 */
export function usable(found: Readonly<ServerMetadata>, issuer: string): ServerMetadata {
  if (new URL(found.issuer).href !== new URL(issuer).href)
    throw new Error(`the document at ${issuer} is of another issuer: ${found.issuer}`);
  const schemes = issuer.startsWith("http:") ? ["https:", "http:"] : ["https:"];
  const needed = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;
  // The platform dials the first, and the console opens the second.
  const optional = (["userinfo_endpoint", "end_session_endpoint"] as const).filter(
    (name) => found[name] !== undefined,
  );
  for (const name of [...needed, ...optional]) {
    const { protocol = "" } = URL.parse(String(found[name])) ?? {};
    if (!schemes.includes(protocol))
      throw new Error(`${name} in the document at ${issuer} is not an address with https`);
  }
  const named = found.id_token_signing_alg_values_supported ?? ["RS256"];
  return {
    ...found,
    id_token_signing_alg_values_supported: named.filter((name) => signatures.has(name)),
  };
}

const claimReasons = {
  aud: "its ID token is for another application (wrong audience). Ask an operator to check SVC_OIDC_CLIENT_ID",
  azp: "its ID token was issued to another application (wrong azp). Ask an operator to check SVC_OIDC_CLIENT_ID",
  iss: "its ID token is of another issuer. Ask an operator to check SVC_OIDC_ISSUER",
  nonce: "its ID token belongs to another sign-in (wrong nonce). Start again",
} as const;

const isNamed = (claim = ""): claim is keyof typeof claimReasons =>
  Object.hasOwn(claimReasons, claim);

/** Undefined: the provider answered with something that is no sign-in at all. */
function reasonOf({ code, cause }: ClientError): string | undefined {
  const { claim } = readCause(cause);
  switch (code) {
    case "OAUTH_JWT_CLAIM_COMPARISON_FAILED":
      return isNamed(claim) ? claimReasons[claim] : "its ID token has a wrong claim. Start again";
    case "OAUTH_JWT_TIMESTAMP_CHECK_FAILED":
      return "its ID token has expired or is not valid yet. Ask an operator to compare the clocks of both servers";
    case "OAUTH_KEY_SELECTION_FAILED":
      return "its ID token is signed with a key that it does not publish. Ask an operator to check the provider";
    case "OAUTH_UNSUPPORTED_OPERATION":
    case "OAUTH_INVALID_RESPONSE":
    case "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED":
      return "its answer is not valid: state, issuer, claims or signature are wrong. Start again, and ask an operator to check the provider if it stays like this";
    default:
      return undefined;
  }
}

function readCause(cause: unknown): { readonly claim: string | undefined } {
  const inner = cause instanceof Error ? cause.cause : cause;
  const claim =
    typeof inner === "object" && inner !== null && "claim" in inner ? inner.claim : undefined;
  return { claim: typeof claim === "string" ? claim : undefined };
}

const plain = (code: string) => code.replaceAll(/[^\w-]/g, "").slice(0, 60);

/** For the log: never a token, a code or a claim. */
function detailOf(error: unknown): string {
  const texts: string[] = [];
  for (let at = error; at instanceof Error && texts.length < 4; at = at.cause) {
    const code = "code" in at && typeof at.code === "string" ? at.code : undefined;
    // The library and the runtime say it in two sentences, one behind the other.
    if (code === "OAUTH_TIMEOUT" || at.name === "TimeoutError") return "it did not respond in time";
    texts.push(`${at.message}${code === undefined ? "" : ` (${code})`}`);
  }
  return texts.join(": ").slice(0, 500) || String(error).slice(0, 200);
}
