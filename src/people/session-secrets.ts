import { randomBytes, timingSafeEqual } from "node:crypto";

/** A browser's session: its cookie needs the second secret beside it. */
const boundPrefix = "browser-";
/** The session of a program, which sends its cookie nowhere else. */
const plainPrefix = "program-";

/** Renewed with each sign-in; after this time without one, a browser is unknown again. */
const deviceMs = 400 * 86_400_000;
const longestDevice = 300;
const proofMark = "proof";

/** A browser that a person has signed in with. */
export interface Device {
  readonly id: string;
  readonly userId: string;
  /** Whether the sign-in proved a factor. */
  readonly hasProof: boolean;
}

/** Of 256 random bits: what is kept of it, a plain hash, can be guessed by nobody. */
export function newSecret(prefix = ""): string {
  return prefix + randomBytes(32).toString("base64url");
}

export function hashSecret(secret: string): string {
  return new Bun.CryptoHasher("sha256").update(secret).digest("base64url");
}

/** For the cookie; its form says what it needs to be of use. */
export function newSessionSecret(isBound: boolean): string {
  return newSecret(isBound ? boundPrefix : plainPrefix);
}

/**
 * Browsers send a cookie to every port of a host, so any other server on the same machine gets to
 * see it. What opens a browser's session is therefore the cookie and a second secret, the binding,
 * that pages keep where their own origin alone can read it. It follows from the session's secret by
 * a key that never leaves the server, so nothing more is stored.
 */
export class SessionSecrets {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Null for a program's session, which needs none. */
  bindingOf(secret: string): string | null {
    return secret.startsWith(boundPrefix) ? this.#sign("binding", secret) : null;
  }

  /**
   * Whether a cookie may be used with what came beside it. Who sends a binding means a session that
   * has one: another server of the host could have put a cookie of its own into the browser.
   */
  opens(secret: string, binding: string | null): boolean {
    if (binding === null) return secret.startsWith(plainPrefix);
    const right = this.bindingOf(secret);
    return right !== null && isSame(right, binding);
  }

  newDevice(userId: string, nowMs: number, hasProof: boolean): string {
    const body = `${userId}.${newSecret()}.${nowMs + deviceMs}${hasProof ? `.${proofMark}` : ""}`;
    return `${body}.${this.#sign("device", body)}`;
  }

  readDevice(text: string, nowMs: number): Device | undefined {
    if (text.length > longestDevice) return undefined;
    const at = text.lastIndexOf(".");
    const body = text.slice(0, Math.max(at, 0));
    if (!isSame(this.#sign("device", body), text.slice(at + 1))) return undefined;
    const [userId = "", id = "", expiresAtMs, mark] = body.split(".");
    if (!(Number(expiresAtMs) > nowMs)) return undefined;
    return { userId, id, hasProof: mark === proofMark };
  }

  #sign(purpose: "binding" | "device", text: string): string {
    return new Bun.CryptoHasher("sha256", this.#key)
      .update(`${purpose}\n${text}`)
      .digest("base64url");
  }
}

/** In the same time wherever they differ. */
function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
