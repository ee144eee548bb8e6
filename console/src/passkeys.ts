import { ApiProblem, type Input, type Reply } from "./api.ts";

type CreationOptions = Reply<"POST /api/me/passkeys/setup">["options"];
type RequestOptions = Reply<"POST /api/me/verify/passkey">["options"];
type NewPasskey = Input<"POST /api/me/passkeys">["body"]["response"];
type PasskeyAnswer = Input<"POST /api/session/passkey">["body"]["passkey"];

/**
 * Asks the browser for a new passkey. Not with `parseCreationOptionsFromJSON` and `toJSON`: browsers
 * of 2024 lack them.
 */
export async function createPasskey(options: CreationOptions): Promise<NewPasskey> {
  const { challenge, user, excludeCredentials = [], ...rest } = options;
  const publicKey = {
    ...rest,
    challenge: toBytes(challenge),
    user: { ...user, id: toBytes(user.id) },
    excludeCredentials: excludeCredentials.map(toDescriptor),
  } as PublicKeyCredentialCreationOptions;
  const credential = await asked(() => navigator.credentials.create({ publicKey }));
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    ...headOf(credential),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: response.getTransports() as NewPasskey["response"]["transports"] & object,
    },
  };
}

/** Asks the browser to sign with a passkey. */
export async function askPasskey(options: RequestOptions): Promise<PasskeyAnswer> {
  const { challenge, allowCredentials = [], ...rest } = options;
  const publicKey = {
    ...rest,
    challenge: toBytes(challenge),
    allowCredentials: allowCredentials.map(toDescriptor),
  } as PublicKeyCredentialRequestOptions;
  const credential = await asked(() => navigator.credentials.get({ publicKey }));
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    ...headOf(credential),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      ...(response.userHandle === null ? {} : { userHandle: toText(response.userHandle) }),
    },
  };
}

const headOf = ({ id, rawId }: PublicKeyCredential) => ({
  id,
  rawId: toText(rawId),
  type: "public-key" as const,
  clientExtensionResults: {},
});

async function asked(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await ask().catch((error: unknown) => {
    throw problem(wordsFor(error));
  });
  if (credential === null) throw problem(wordsFor(undefined));
  return credential as PublicKeyCredential;
}

const problem = (message: string) => new ApiProblem({ status: 400, code: "passkey", message });

/** Browsers say the same for a person who closed the prompt and for one who has no passkey. */
function wordsFor(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "InvalidStateError")
    return "This device already has a passkey for you. Use another device or security key.";
  if (name === "SecurityError")
    return "Passkeys do not work at this address. Open the console at its public address.";
  return "The browser did not provide a passkey: the prompt was closed, took too long or found none. Try again.";
}

const toDescriptor = ({ id, ...rest }: { readonly id: string }) => ({
  ...rest,
  id: toBytes(id),
  type: "public-key" as const,
});

function toBytes(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function toText(buffer: ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
