import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { Problem } from "../../base/problem.ts";
import type { User } from "../store.ts";
import type { Passkey } from "./store.ts";

/** Who a passkey is for: the host name of a page, and its origin. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/**
 * A passkey belongs to a name: a page that was opened by its IP address cannot have one. Browsers
 * offer passkeys over https alone, except on localhost.
 */
export function relyingPartyOf(origin: string): RelyingParty | undefined {
  const { hostname, protocol } = new URL(origin);
  if (hostname.startsWith("[") || isIP(hostname) !== 0) return undefined;
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  return protocol === "https:" || isLocal ? { id: hostname, origin } : undefined;
}

/** Loaded when the first passkey is asked for: most starts do without it. */
const library = () => import("@simplewebauthn/server");

/** Ed25519, and ECDSA or RSA with SHA-256: what authenticators have. */
const algorithms = [-8, -7, -257];
const timeoutMs = 5 * 60_000;

export const newChallenge = (): string => randomBytes(32).toString("base64url");

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "base64url"));
/** As the library names it. */
const transportsOf = ({ transports }: Passkey) =>
  transports as ("ble" | "cable" | "hybrid" | "internal" | "nfc" | "smart-card" | "usb")[];
const toDescriptor = (passkey: Passkey) => ({ id: passkey.id, transports: transportsOf(passkey) });

export async function registrationOptions(of: {
  readonly user: User;
  readonly known: readonly Passkey[];
  readonly party: RelyingParty;
  readonly challenge: string;
}): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { user, known, party, challenge } = of;
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: "svc gateway",
    rpID: party.id,
    userName: user.email,
    userDisplayName: user.name,
    userID: new Uint8Array(Buffer.from(user.id)),
    challenge: bytesOf(challenge),
    timeout: timeoutMs,
    attestationType: "none",
    excludeCredentials: known.map(toDescriptor),
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
    supportedAlgorithmIDs: algorithms,
  });
}

/** Without passkeys: any that the browser has for this host may answer. */
export async function requestOptions(of: {
  readonly party: RelyingParty;
  readonly challenge: string;
  readonly allowed: readonly Passkey[] | undefined;
}): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: of.party.id,
    challenge: bytesOf(of.challenge),
    timeout: timeoutMs,
    userVerification: of.allowed === undefined ? "required" : "preferred",
    ...(of.allowed === undefined ? {} : { allowCredentials: of.allowed.map(toDescriptor) }),
  });
}

interface Asked {
  readonly party: RelyingParty;
  readonly challenge: string;
}

export async function verifyRegistration(
  response: RegistrationResponseJSON,
  { party, challenge }: Asked,
): Promise<Pick<Passkey, "id" | "publicKey" | "counter" | "transports" | "isBackedUp">> {
  const { verifyRegistrationResponse } = await library();
  await refusing(checkOwnPage(response.response));
  const { registrationInfo } = await refusing(
    verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (registrationInfo === undefined) throw new WrongPasskey();
  const { credential, credentialBackedUp: isBackedUp } = registrationInfo;
  const { id, counter, transports = [] } = credential;
  const publicKey = Buffer.from(credential.publicKey).toString("base64url");
  return { id, publicKey, counter, transports: transports.map(String).slice(0, 8), isBackedUp };
}

/** Its counter is compared by the store, in the transaction that writes it. */
export async function verifyAssertion(
  response: AuthenticationResponseJSON,
  asked: Asked & { readonly passkey: Passkey; readonly isAlone: boolean },
): Promise<Pick<Passkey, "counter" | "isBackedUp">> {
  const { passkey, party, challenge, isAlone } = asked;
  const { verifyAuthenticationResponse } = await library();
  await refusing(checkOwnPage(response.response));
  const { verified, authenticationInfo } = await refusing(
    verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: isAlone,
      credential: {
        id: passkey.id,
        publicKey: bytesOf(passkey.publicKey),
        counter: 0,
        transports: transportsOf(passkey),
      },
    }),
  );
  if (!verified) throw new WrongPasskey();
  const { newCounter, credentialBackedUp } = authenticationInfo;
  return { counter: newCounter, isBackedUp: credentialBackedUp };
}

/** The library accepts answers from a frame in a page of another site; no page may frame the console. */
async function checkOwnPage({ clientDataJSON }: { readonly clientDataJSON: string }) {
  const { decodeClientDataJSON } = await import("@simplewebauthn/server/helpers");
  if (decodeClientDataJSON(clientDataJSON).crossOrigin === true) throw new WrongPasskey();
}

/** The library says in many ways what is wrong; all of them mean that the answer is not right. */
function refusing<T>(work: Promise<T>): Promise<T> {
  return work.catch(() => {
    throw new WrongPasskey();
  });
}

export class WrongPasskey extends Problem {
  constructor(message = "This passkey was not accepted. Try again, or sign in another way.") {
    super({ code: "invalid", message });
  }
}
