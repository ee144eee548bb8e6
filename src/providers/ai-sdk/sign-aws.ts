import { createHash, createHmac } from "node:crypto";

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

export interface AwsRequest {
  readonly method: string;
  readonly host: string;
  /** As it goes on the wire, without a query. */
  readonly path: string;
  readonly body: string;
  readonly nowMs: number;
}

/**
 * Amazon's Signature Version 4. The provider package has one of its own, whose five turns through
 * the runtime's asynchronous crypto cost more than the rest of the call.
 */
export class AwsSigner {
  readonly #credentials: AwsCredentials;
  readonly #region: string;
  readonly #service: string;
  #day = "";
  #key: Uint8Array = new Uint8Array();

  constructor(options: {
    readonly credentials: AwsCredentials;
    readonly region: string;
    readonly service: string;
  }) {
    this.#credentials = options.credentials;
    this.#region = options.region;
    this.#service = options.service;
  }

  /** The headers that make a request one of ours. */
  sign({ method, host, path, body, nowMs }: AwsRequest): Record<string, string> {
    const { accessKeyId, sessionToken } = this.#credentials;
    const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, "");
    const day = time.slice(0, 8);
    const token = sessionToken === undefined ? "" : `x-amz-security-token:${sessionToken}\n`;
    const names = `host;x-amz-date${token === "" ? "" : ";x-amz-security-token"}`;
    // A path is encoded once more than on the wire.
    const place = path
      .split("/")
      .map((step) => encodeURIComponent(step).replace(/[!'()*]/g, toPercents))
      .join("/");
    const request = `${method}\n${place}\n\nhost:${host}\nx-amz-date:${time}\n${token}\n${names}\n${hash(body)}`;
    const scope = `${day}/${this.#region}/${this.#service}/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${hash(request)}`;
    const signature = createHmac("sha256", this.#keyOf(day)).update(text).digest("hex");
    return {
      "x-amz-date": time,
      ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    };
  }

  /** The same for a whole day. */
  #keyOf(day: string): Uint8Array {
    if (day === this.#day) return this.#key;
    let key: Uint8Array = Buffer.from(`AWS4${this.#credentials.secretAccessKey}`);
    for (const step of [day, this.#region, this.#service, "aws4_request"])
      key = createHmac("sha256", key).update(step).digest();
    this.#day = day;
    this.#key = key;
    return key;
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function toPercents(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
