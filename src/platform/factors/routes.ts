import { optionalDate, toDateText } from "../../base/dates.ts";
import { Type } from "../../base/json/type.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { isRecent, needsFactor } from "../../people/session-policy.ts";
import { type Context, route } from "../context.ts";
import { personOf } from "../http/context.ts";
import { done, fields, isDone, text } from "../http/schemas.ts";
import {
  attestation,
  code,
  creationOptions,
  factorsReply,
  recoveryCodes,
  requestOptions,
  ticket,
  verifyBody,
} from "./schemas.ts";

const name = text({ least: 1, most: 100, about: "Such as `Phone`." });

/** The second factors of the signed-in user. */
export const factorRoutes = [
  route("GET /api/me/factors", {
    about: "Shows your second factors: authenticator app, passkeys, recovery codes.",
    access: "person",
    isForSetup: true,
    reply: factorsReply,
    handle: view,
  }),
  route("POST /api/me/verify", {
    about:
      "Proves once more who you are, with a code or a passkey, or with your password if you have no second factor. Some changes require that you did so within ten minutes.",
    access: "person",
    isForSetup: true,
    body: verifyBody,
    reply: done,
    async handle(context, { body }) {
      const { password, code: given, passkey } = body;
      if (password === undefined && given === undefined && passkey === undefined)
        throw invalid({ password: "Send one of: password, code, passkey." });
      const { party, visitor } = context;
      const who = personOf(context);
      await context.operations.factors.verify({ ...body, who, party, visitor });
      return isDone;
    },
  }),
  route("POST /api/me/verify/passkey", {
    about: "Returns the options for proving with a passkey who you are.",
    access: "person",
    isForSetup: true,
    reply: Type.Object({ ticket: Type.String(), options: requestOptions }),
    handle: (context) =>
      context.dependencies.factors.own.passkeyChallenge(personOf(context), partyOf(context)),
  }),
  route("POST /api/me/totp/setup", {
    about: "Returns a new secret for an authenticator app. It counts once a code has confirmed it.",
    access: "person",
    isForSetup: true,
    needsRecent: true,
    reply: Type.Object({
      ticket: Type.String(),
      secret: Type.String({ description: "Base32." }),
      uri: Type.String({ description: "For a QR code." }),
    }),
    handle: (context) => context.dependencies.factors.own.beginTotp(personOf(context)),
  }),
  route("POST /api/me/totp", {
    about: "Confirms an authenticator app with its current code. From then on, sign-in needs one.",
    access: "person",
    isForSetup: true,
    needsRecent: true,
    body: fields({ ticket, code }),
    reply: recoveryCodes,
    handle: (context, { body }) =>
      context.operations.factors.addTotp({ who: personOf(context), ...body }),
  }),
  route("DELETE /api/me/totp", {
    about: "Removes your authenticator app.",
    access: "person",
    needsRecent: true,
    reply: done,
    async handle(context) {
      await context.operations.factors.removeTotp({ who: personOf(context) });
      return isDone;
    },
  }),
  route("POST /api/me/recovery-codes", {
    about: "Replaces your recovery codes with ten new ones.",
    access: "person",
    needsRecent: true,
    reply: recoveryCodes,
    handle: (context) => context.operations.factors.newCodes({ who: personOf(context) }),
  }),
  route("POST /api/me/passkeys/setup", {
    about: "Returns the options for creating a passkey.",
    access: "person",
    isForSetup: true,
    needsRecent: true,
    reply: Type.Object({ ticket: Type.String(), options: creationOptions }),
    handle: (context) =>
      context.dependencies.factors.own.beginPasskey(personOf(context), partyOf(context)),
  }),
  route("POST /api/me/passkeys", {
    about: "Adds a passkey. From then on, a password alone does not sign in.",
    access: "person",
    isForSetup: true,
    needsRecent: true,
    body: fields({ ticket, name, response: attestation }),
    reply: recoveryCodes,
    handle: (context, { body }) =>
      context.operations.factors.addPasskey({
        who: personOf(context),
        party: partyOf(context),
        ...body,
      }),
  }),
  route("PATCH /api/me/passkeys/:id", {
    about: "Renames a passkey.",
    access: "person",
    body: fields({ name }),
    reply: done,
    async handle(context, { params, body }) {
      const who = personOf(context);
      await context.operations.factors.renamePasskey({ who, id: params.id, name: body.name });
      return isDone;
    },
  }),
  route("DELETE /api/me/passkeys/:id", {
    about: "Removes a passkey.",
    access: "person",
    needsRecent: true,
    reply: done,
    async handle(context, { params }) {
      await context.operations.factors.removePasskey({ who: personOf(context), id: params.id });
      return isDone;
    },
  }),
  route("DELETE /api/people/:id/factors", {
    about:
      "Removes all second factors of a user who has lost them, and ends all sessions of that user.",
    access: "operator",
    needsRecent: true,
    reply: done,
    async handle({ operations }, { params }) {
      await operations.factors.reset({ id: params.id });
      return isDone;
    },
  }),
] as const;

/** What the page that asks was opened by. */
export function partyOf({ party }: Pick<Context, "party">) {
  if (party !== undefined) return party;
  throw new Problem({
    code: "conflict",
    message:
      "Passkeys need a host name, and https. Open the console at its public address, or on this machine at http://localhost instead of an IP address.",
  });
}

async function view(context: Context) {
  const { user, session } = personOf(context);
  const { people, clock } = context.dependencies;
  const { totp, passkeys, recoveryCodes: left } = await people.store.factors(user.id);
  return {
    totp: totp === undefined ? null : { added_at: toDateText(totp.createdAtMs) },
    recovery_codes: left,
    passkeys: passkeys.map((passkey) => ({
      id: passkey.id,
      name: passkey.name,
      host: passkey.rpId,
      is_backed_up: passkey.isBackedUp,
      added_at: toDateText(passkey.createdAtMs),
      last_used_at: optionalDate(passkey.lastUsedMs),
    })),
    is_required: needsFactor(user, people.policy),
    is_verified: isRecent(session, clock.nowMs()),
  };
}
