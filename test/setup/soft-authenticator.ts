import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** What a hostile authenticator or page would send in place of the right thing. */
export interface Twist {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly counter?: number;
  readonly isVerified?: boolean;
  readonly isPresent?: boolean;
  readonly userHandle?: string;
  readonly crossOrigin?: boolean;
  /** Signed with another key. */
  readonly isForged?: boolean;
}

interface Asked {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id?: string };
  readonly user?: { readonly id: string };
}

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest();
const newPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

/** One passkey that signs for real: ES256, without attestation. */
export class SoftAuthenticator {
  readonly id = randomBytes(32).toString("base64url");
  readonly #pair = newPair();
  readonly #origin: string;
  /** As many passkeys do, it can always say 0. */
  #counter: number | undefined;
  #userHandle = "";

  constructor(origin: string, options: { readonly counts?: boolean } = {}) {
    this.#origin = origin;
    this.#counter = options.counts === true ? 0 : undefined;
  }

  /** The answer to `navigator.credentials.create`. */
  create(asked: Asked, twist: Twist = {}) {
    this.#userHandle = asked.user?.id ?? "";
    const clientDataJSON = this.#clientData("webauthn.create", asked, twist);
    const { x = "", y = "" } = this.#pair.publicKey.export({ format: "jwk" });
    // A map of COSE: kty EC2, alg ES256, crv P-256, x, y.
    const key = Buffer.concat([
      Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32]),
      Buffer.from(x, "base64url"),
      Buffer.from([0x22, 0x58, 32]),
      Buffer.from(y, "base64url"),
    ]);
    const id = Buffer.from(this.id, "base64url");
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
    const data = this.#authenticatorData(asked, twist, credential);
    // { fmt: "none", attStmt: {}, authData: … }
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      cborText("fmt"),
      cborText("none"),
      cborText("attStmt"),
      Buffer.from([0xa0]),
      cborText("authData"),
      Buffer.from([0x59, data.length >> 8, data.length & 0xff]),
      data,
    ]);
    return this.#reply({
      clientDataJSON: clientDataJSON.toString("base64url"),
      attestationObject: attestationObject.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** The answer to `navigator.credentials.get`. */
  get(asked: Asked, twist: Twist = {}) {
    const clientDataJSON = this.#clientData("webauthn.get", asked, twist);
    const authenticatorData = this.#authenticatorData(asked, twist);
    const key: KeyObject = twist.isForged === true ? newPair().privateKey : this.#pair.privateKey;
    const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)]);
    return this.#reply({
      clientDataJSON: clientDataJSON.toString("base64url"),
      authenticatorData: authenticatorData.toString("base64url"),
      signature: sign("sha256", signed, key).toString("base64url"),
      userHandle: twist.userHandle ?? this.#userHandle,
    });
  }

  #clientData(type: string, asked: Asked, twist: Twist): Buffer {
    const { challenge } = asked;
    const data = { type, challenge, origin: this.#origin, crossOrigin: false };
    const { origin, challenge: other, crossOrigin, type: otherType } = twist;
    const changed = { origin, challenge: other, crossOrigin, type: otherType };
    const given = Object.entries(changed).filter(([, value]) => value !== undefined);
    return Buffer.from(JSON.stringify({ ...data, ...Object.fromEntries(given) }));
  }

  #authenticatorData(asked: Asked, twist: Twist, credential?: Uint8Array): Buffer {
    const rpId = twist.rpId ?? asked.rpId ?? asked.rp?.id ?? "";
    if (this.#counter !== undefined) this.#counter++;
    const { isPresent = true, isVerified = true, counter = this.#counter ?? 0 } = twist;
    const flags =
      (isPresent ? 1 : 0) | (isVerified ? 4 : 0) | (credential === undefined ? 0 : 0x40);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([
      sha256(rpId),
      Buffer.from([flags]),
      count,
      credential ?? Buffer.alloc(0),
    ]);
  }

  #reply<Response>(response: Response) {
    const { id } = this;
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }
}

/** Of less than 24 bytes. */
const cborText = (text: string) =>
  Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
