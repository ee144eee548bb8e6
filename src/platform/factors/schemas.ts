import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { Type } from "../../base/json/type.ts";
import { fields, moment, nullable, oneOf, says, text } from "../http/schemas.ts";

const base64 = (most: number) =>
  Type.String({ maxLength: most, pattern: "^[A-Za-z0-9_-]*$", ...says("base64url text") });

/** As browsers write the answers of authenticators; what we do not read is let through. */
const credential = { id: base64(2_000), rawId: base64(2_000), type: Type.Literal("public-key") };

export const assertion = Type.Unsafe<AuthenticationResponseJSON>(
  Type.Object({
    ...credential,
    response: Type.Object({
      clientDataJSON: base64(8_000),
      authenticatorData: base64(8_000),
      signature: base64(8_000),
      userHandle: Type.Optional(Type.Union([base64(200), Type.Null()])),
    }),
  }),
);

export const attestation = Type.Unsafe<RegistrationResponseJSON>(
  Type.Object({
    ...credential,
    response: Type.Object({
      clientDataJSON: base64(8_000),
      attestationObject: base64(60_000),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 })),
    }),
  }),
);

const asGiven = (description: string) => ({ type: "object", description });
export const requestOptions = Type.Unsafe<PublicKeyCredentialRequestOptionsJSON>(
  asGiven("Options for `navigator.credentials.get`."),
);
export const creationOptions = Type.Unsafe<PublicKeyCredentialCreationOptionsJSON>(
  asGiven("Options for `navigator.credentials.create`."),
);

export const ticket = text({ least: 1, most: 4_000, about: "As the step before returned it." });
export const code = text({
  least: 1,
  most: 40,
  about: "The current code of the authenticator app, or a recovery code.",
});

/** What a sign-in lacks. */
export const secondFactor = nullable(
  Type.Object(
    {
      ticket: Type.String({ description: "Send it with the answer, and with the cookie." }),
      expires_at: moment(),
      ways: Type.Array(oneOf(["passkey", "totp", "recovery"]), {
        description: "What the user can answer with at this address.",
      }),
      passkey_options: nullable(requestOptions),
    },
    {
      description:
        "Not null: no session has begun. Send a code or a passkey to POST /api/session/second-step.",
    },
  ),
);

export const recoveryCodes = Type.Object({
  recovery_codes: nullable(
    Type.Array(Type.String(), {
      description: "Each works once. Shown here only; null if the user already has some.",
    }),
  ),
});

export const factorsReply = Type.Object({
  totp: nullable(Type.Object({ added_at: moment() })),
  recovery_codes: Type.Integer({ description: "Unused recovery codes." }),
  passkeys: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      host: Type.String({ description: "The host name that the passkey works for." }),
      is_backed_up: Type.Boolean(),
      added_at: moment(),
      last_used_at: nullable(moment()),
    }),
  ),
  is_required: Type.Boolean({ description: "Whether the last factor cannot be removed." }),
  is_verified: Type.Boolean({
    description: "Whether the user has proved who they are within ten minutes.",
  }),
});

export const verifyBody = fields({
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  code: Type.Optional(code),
  ticket: Type.Optional(ticket),
  passkey: Type.Optional(assertion),
});
