import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { open } from "node:fs/promises";
import type { ApiError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import { addressProblem } from "../kit/address.ts";
import { upstreamError } from "../kit/failure.ts";
import { type FaultKind, SetupFault } from "../kit/setup-fault.ts";

/** Where the operator keeps what a provider signs in with. */
export interface CredentialsSource {
  /** The operator's name of the provider. */
  readonly provider: string;
  /** The JSON itself; it goes before a file. */
  readonly text: string | undefined;
  readonly file: string | undefined;
  readonly allowPrivate: boolean;
}

/** What is posted to get a token, and where to. */
export interface Grant {
  readonly tokenUrl: string;
  readonly form: URLSearchParams;
  /** The project that pays for calls of a person's own account. */
  readonly quotaProject: string | undefined;
}

const usualTokenUrl = "https://oauth2.googleapis.com/token";
const scope = "https://www.googleapis.com/auth/cloud-platform";
const jwtGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** The longest that is allowed. */
const assertionS = 3600;
const maxFileBytes = 64 * 1024;

/** Read again for each sign-in: keys are changed by changing the file. */
export async function readGrant(source: CredentialsSource, nowMs: number): Promise<Grant> {
  const { from, text } = await readText(source);
  const trouble = (what: string) => unreadable(source.provider, { from, what });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Without the parser's words, which quote the text.
    throw trouble("is not valid JSON");
  }
  if (!isJsonObject(parsed)) throw trouble("is not a JSON object");
  const fields = parsed;
  const read = (name: string): string => {
    const value = fields[name];
    if (typeof value === "string" && value.trim() !== "") return value;
    throw trouble(`has no ${name}`);
  };
  const tokenUrl = fields["token_uri"] === undefined ? usualTokenUrl : read("token_uri");
  const problem = tokenUrlProblem(tokenUrl, source.allowPrivate);
  if (problem !== undefined) throw trouble(`has a token_uri that ${problem}`);
  switch (fields["type"]) {
    case "service_account": {
      const key = readKey(read("private_key"), trouble);
      const assertion = toAssertion({ fields, email: read("client_email"), key, tokenUrl, nowMs });
      const form = new URLSearchParams({ grant_type: jwtGrant, assertion });
      return { tokenUrl, form, quotaProject: undefined };
    }
    case "authorized_user": {
      const form = new URLSearchParams({
        grant_type: "refresh_token",
        client_id: read("client_id"),
        client_secret: read("client_secret"),
        refresh_token: read("refresh_token"),
      });
      const quotaProject = fields["quota_project_id"];
      return {
        tokenUrl,
        form,
        quotaProject: typeof quotaProject === "string" ? quotaProject : undefined,
      };
    }
    default:
      throw trouble("must have the type service_account or authorized_user");
  }
}

/** For the operator to fix: the caller learns only that the model is unavailable. */
export function signInError(options: {
  readonly provider: string;
  /** For the log. */
  readonly words: string;
  readonly kind: FaultKind;
  readonly what: string;
  readonly advice: string;
}): ApiError {
  const { provider, words, kind, what, advice } = options;
  return upstreamError("upstream_unavailable", {
    detail: `${provider}: ${words}`,
    reason: "auth",
    cause: new SetupFault(kind, { what, advice }),
  });
}

function unreadable(
  provider: string,
  { from, what, reason = what }: { from: string; what: string; reason?: string },
): ApiError {
  return signInError({
    provider,
    words: `${from} ${reason}`,
    kind: "credentials",
    what: `${provider} cannot sign in because ${from} ${what}.`,
    advice:
      "Use the complete JSON key file of a service account, and make sure the gateway can read it.",
  });
}

async function readText({ provider, text, file }: CredentialsSource) {
  // A variable that is set to nothing is as good as none.
  if (text !== undefined && text !== "") return { from: "credentials", text };
  if (file === undefined || file === "")
    throw signInError({
      provider,
      words:
        "no credentials: set credentials (the service account's JSON), credentials_file or api_key",
      kind: "settings",
      what: `${provider} has no credentials.`,
      advice: "Set credentials (the service account's JSON), credentials_file or api_key.",
    });
  const from = `credentials_file ${file}`;
  try {
    return { from, text: await readStart(file) };
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason";
    const reason = `cannot be read: ${code}`;
    throw unreadable(provider, { from, what: fileTroubles[code] ?? reason, reason });
  }
}

const fileTroubles: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "is not readable by the gateway",
  EISDIR: "is a directory",
};

async function readStart(path: string): Promise<string> {
  const handle = await open(path);
  try {
    const buffer = Buffer.alloc(maxFileBytes);
    const { bytesRead } = await handle.read(buffer, 0, maxFileBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** What is posted there is worth a token: it goes in the clear only inside the operator's network. */
function tokenUrlProblem(url: string, allowPrivate: boolean): string | undefined {
  const problem = addressProblem(url, allowPrivate);
  if (problem !== undefined) return problem;
  return allowPrivate || url.startsWith("https:") ? undefined : "must start with https://";
}

function readKey(pem: string, trouble: (what: string) => ApiError): KeyObject {
  let key: KeyObject;
  try {
    // Line ends are often escaped once too often on the way through a variable.
    key = createPrivateKey(pem.replaceAll("\\n", "\n"));
  } catch {
    throw trouble("has a private_key that is not a PEM key");
  }
  if (key.asymmetricKeyType !== "rsa") throw trouble("has a private_key that is not an RSA key");
  return key;
}

function toAssertion(options: {
  readonly fields: JsonObject;
  readonly email: string;
  readonly key: KeyObject;
  readonly tokenUrl: string;
  readonly nowMs: number;
}): string {
  const { fields, email, key, tokenUrl, nowMs } = options;
  const keyId = fields["private_key_id"];
  const nowS = Math.floor(nowMs / 1000);
  const head = { alg: "RS256", typ: "JWT", ...(typeof keyId === "string" ? { kid: keyId } : {}) };
  const claims = { iss: email, scope, aud: tokenUrl, iat: nowS, exp: nowS + assertionS };
  const signed = `${toBase64Url(head)}.${toBase64Url(claims)}`;
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
}

function toBase64Url(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
