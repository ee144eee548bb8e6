import { toDateText } from "../../base/dates.ts";
import { Type } from "../../base/json/type.ts";
import type { Challenge } from "../../people/factors/second-step.ts";
import type { Context } from "../context.ts";
import { secondFactor } from "../factors/schemas.ts";
import { nullable } from "../http/schemas.ts";

/** Given to a browser with its session; null for a program, whose cookie is enough. */
export const browserSecrets = {
  binding: nullable(
    Type.String({ description: "Send it as x-svc-session together with the cookie." }),
  ),
  device: nullable(
    Type.String({
      description:
        "Send it as x-svc-device with the next sign-in, so that failed attempts from elsewhere do not count.",
    }),
  ),
};

/** Of the first step, or the only one. */
export const signInReply = Type.Object({
  ok: Type.Boolean({ description: "False: the second factor is missing." }),
  second_factor: secondFactor,
  ...browserSecrets,
});

/** Sets the cookie; what a browser must keep beside it is in the reply, where no other site reads. */
export function signIn(context: Context, userId: string, secret: string, hasProof = false) {
  const { dependencies, setCookie, isBrowser } = context;
  const { longestMs } = dependencies.people.policy;
  setCookie({ kind: "session", value: secret, ageMs: longestMs });
  return {
    binding: dependencies.sessionSecrets.bindingOf(secret),
    device: isBrowser
      ? dependencies.sessionSecrets.newDevice(userId, dependencies.clock.nowMs(), hasProof)
      : null,
  };
}

export const noSecrets = { binding: null, device: null };

/** The ticket is of no use without the cookie, nor the cookie without the ticket. */
export function toSecondFactor({ setCookie, dependencies }: Context, challenge: Challenge) {
  const { ticket: given, expiresAtMs, holder, ways, options } = challenge;
  const ageMs = expiresAtMs - dependencies.clock.nowMs();
  setCookie({ kind: "signIn", value: holder, ageMs });
  return {
    ticket: given,
    expires_at: toDateText(expiresAtMs),
    ways,
    passkey_options: options ?? null,
  };
}
