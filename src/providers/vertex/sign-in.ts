import type { Signal } from "../../call/signal.ts";
/**
 * Keeps the token that calls are made with.
 *
 * A good token is given at once. One that nears its end is still given, and a new one is fetched
 * beside; one that has ended is waited for, by all callers together. A refresh that fails leaves the
 * old token in force until its end. With no token, what the last try failed with is told again for a
 * second, so that a wrong key is not tried with every call. A caller who leaves ends only the waiting.
 */

import type { Clock } from "../../base/clock.ts";
import type { ApiError } from "../../base/errors.ts";
import { isJsonObject } from "../../call/chat.ts";
import type { Dialer } from "../kit/dial.ts";
import { toApiFailure, upstreamError } from "../kit/failure.ts";
import { createFetch, toNetworkError } from "../kit/http.ts";
import { FetchReply, readReply } from "../kit/reply.ts";
import { type CredentialsSource, type Grant, readGrant, signInError } from "./credentials.ts";

type Fields = Readonly<Record<string, string>>;

/** What a call is let in with, made once a token. */
export interface Pass {
  readonly headers: Fields;
}

interface Token extends Pass {
  readonly madeAtMs: number;
  readonly refreshAtMs: number;
  readonly endsAtMs: number;
}

export interface SignInOptions {
  readonly source: CredentialsSource;
  readonly dialer: Dialer;
  readonly clock: Clock;
  /** What every request carries beside the token. */
  readonly headers: Fields;
  /** How long a sign-in may take. */
  readonly withinMs?: number;
}

const refreshEarlyMs = 5 * 60_000;
/** A token is no longer given so long before its end: the call has to arrive first. */
const marginMs = 10_000;
const tryAgainMs = 1_000;
const refreshAgainMs = 15_000;
/** A token younger than this is not made anew when it is refused: it would be refused again. */
const youngMs = 10_000;
const signInMs = 10_000;
/** Where the server does not tell: the shortest that is usual. */
const unknownLifeS = 600;

export class SignIn {
  readonly #options: SignInOptions;
  readonly #fetch: ReturnType<typeof createFetch>;
  #token: Token | undefined;
  #pending: Promise<Token> | undefined;
  #failure: unknown;
  #notBeforeMs = 0;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#fetch = createFetch(options.dialer);
  }

  /** At once where a token is good. */
  pass(signal: Signal): Pass | Promise<Pass> {
    const nowMs = this.#options.clock.nowMs();
    const token = this.#token;
    if (token !== undefined && nowMs < token.endsAtMs) {
      if (nowMs >= token.refreshAtMs && nowMs >= this.#notBeforeMs) this.#start().catch(() => {});
      return token;
    }
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#pending === undefined && nowMs < this.#notBeforeMs)
      return Promise.reject(this.#failure);
    return until(this.#start(), signal);
  }

  /** The upstream does not know the token: tells whether another one may help. */
  drop(pass: Pass): boolean {
    const token = this.#token;
    // Another call has dropped it already.
    if (token !== pass) return true;
    if (this.#options.clock.nowMs() - token.madeAtMs < youngMs) return false;
    this.#token = undefined;
    this.#notBeforeMs = 0;
    return true;
  }

  #start(): Promise<Token> {
    const beganAtMs = this.#options.clock.nowMs();
    this.#pending ??= this.#signIn()
      .then(
        (token) => (this.#token = token),
        (failure: unknown) => {
          this.#failure = failure;
          this.#notBeforeMs =
            this.#token === undefined
              ? this.#options.clock.nowMs() + tryAgainMs
              : beganAtMs + refreshAgainMs;
          throw failure;
        },
      )
      .finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  async #signIn(): Promise<Token> {
    const { source, clock, withinMs = signInMs } = this.#options;
    const nowMs = clock.nowMs();
    const grant = await readGrant(source, nowMs);
    const { provider } = source;
    const late = new AbortController();
    const timer = setTimeout(() => {
      const detail = `${provider}: no response to the sign-in within ${withinMs} ms`;
      late.abort(upstreamError("upstream_timeout", { detail, reason: "timeout", withinMs }));
    }, withinMs);
    try {
      const response = await this.#post(grant, late.signal);
      const reply = await readReply(new FetchReply(response)).catch(() => undefined);
      if (late.signal.aborted) throw late.signal.reason;
      if (!response.ok) throw refusal({ provider, response, reply });
      return this.#toToken({ reply, nowMs, grant });
    } catch (cause) {
      throw toNetworkError({ provider, signal: late.signal, cause, isSignIn: true });
    } finally {
      clearTimeout(timer);
    }
  }

  #post({ tokenUrl, form }: Grant, signal: AbortSignal): Promise<Response> {
    return this.#fetch(tokenUrl, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        "user-agent": "svc-gateway",
      },
      body: form.toString(),
      signal,
    });
  }

  #toToken(options: {
    readonly reply: unknown;
    readonly nowMs: number;
    readonly grant: Grant;
  }): Token {
    const { reply, nowMs, grant } = options;
    const { access_token: token, expires_in: told } = isJsonObject(reply) ? reply : {};
    // Anything else cannot stand in a header.
    if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token))
      throw upstreamError("upstream_error", {
        detail: `${this.#options.source.provider}: the sign-in returned no token`,
      });
    const lifeMs = 1000 * (typeof told === "number" && told > 0 ? told : unknownLifeS);
    const { quotaProject } = grant;
    return {
      madeAtMs: nowMs,
      refreshAtMs: nowMs + lifeMs - Math.min(refreshEarlyMs, lifeMs / 2),
      endsAtMs: nowMs + lifeMs - Math.min(marginMs, lifeMs / 4),
      headers: {
        ...this.#options.headers,
        authorization: `Bearer ${token}`,
        ...(quotaProject === undefined ? {} : { "x-goog-user-project": quotaProject }),
      },
    };
  }
}

/** The work goes on for the others when one of them leaves. */
function until<T>(work: Promise<T>, signal: Signal): Promise<T> {
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(signal.reason);
  signal.addEventListener("abort", leave);
  return Promise.race([work, left.promise]).finally(() =>
    signal.removeEventListener("abort", leave),
  );
}

/** An overloaded or failing server recovers; anything else is for the operator to fix. */
function refusal(options: {
  readonly provider: string;
  readonly response: Response;
  readonly reply: unknown;
}): ApiError {
  const { provider, response, reply } = options;
  const { status, headers } = response;
  if (status === 408 || status === 429 || status >= 500)
    return toApiFailure({ provider, status, headers, body: "", isSignIn: true });
  const { error, error_description: words } = isJsonObject(reply) ? reply : {};
  const code = typeof error === "string" && /^[\w.-]{1,60}$/.test(error) ? ` (${error})` : "";
  const hint = typeof words === "string" ? hintOf(words) : "";
  return signInError({
    provider,
    words: `the sign-in failed with ${status}${code}${hint}`,
    kind: "sign_in",
    what: `${provider}'s sign-in server rejected the credentials (${status}${code.replace(" (", ", ").replace(")", "")})${hint}.`,
    advice:
      "In the vendor's console, check that the account exists, is enabled, and owns this key. A replaced key takes effect at the next sign-in.",
  });
}

const hints: readonly (readonly [RegExp, string])[] = [
  [/\b(iat|exp)\b|timeframe/i, "this machine's clock may be wrong"],
  [/signature/i, "the key was removed, or belongs to another account"],
  [/not found/i, "the account does not exist"],
  [/expired or revoked/i, "the user must sign in again"],
  [/disabled/i, "the account is disabled"],
];

/** In our words: theirs may quote what was sent. */
function hintOf(words: string): string {
  const hint = hints.find(([pattern]) => pattern.test(words));
  return hint === undefined ? "" : `: ${hint[1]}`;
}
