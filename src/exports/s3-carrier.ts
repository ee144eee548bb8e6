import { AwsV4Signer } from "aws4fetch";
import { type Carrier, otherPath, type Part, partPath, sha256 } from "./delivery.ts";
import { DeliveryFailure } from "./delivery-failure.ts";
import type { S3Target } from "./destination.ts";
import { type Call, send } from "./http-call.ts";

export interface S3Secrets {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

/** The hash of an object's content, where the object itself need not be read. */
const digestHeader = "x-amz-meta-sha256";

/**
 * One PUT per object, signed together with the hash of its content, so that the server refuses what
 * arrives changed. An object is there as a whole or not at all.
 */
export function s3Carrier(target: S3Target, secrets: S3Secrets, call: Call): Carrier {
  const request = async (method: "PUT" | "HEAD", object: S3Object, signal: AbortSignal) => {
    const { url, headers } = await signed(target, secrets, { method, ...object });
    const body = method === "PUT" ? { body: object.body } : {};
    return send(call, url, { method, headers, ...body, signal }, explain);
  };
  const put = (object: S3Object, signal: AbortSignal) => request("PUT", object, signal);
  /** False: one with other content is there, or one that may not be read. */
  const putNew = async (object: S3Object, signal: AbortSignal): Promise<boolean> => {
    try {
      await put({ ...object, headers: { ...object.headers, "if-none-match": "*" } }, signal);
      return true;
    } catch (error) {
      const status = error instanceof DeliveryFailure ? error.status : undefined;
      if (status !== 412 && status !== 501) throw error;
      if (status === 412) return hasSame(object, signal);
      // A server without conditional writes.
      await put(object, signal);
      return true;
    }
  };
  const hasSame = async ({ path, headers }: S3Object, signal: AbortSignal) => {
    try {
      const found = await request("HEAD", { path, body: new Uint8Array(), headers: {} }, signal);
      return found.get(digestHeader) === headers[digestHeader];
    } catch (error) {
      // Reading is a right that an export need not have.
      if (error instanceof DeliveryFailure && error.status !== undefined && error.status < 500)
        return false;
      throw error;
    }
  };
  return {
    mostRows: 20_000,
    mostBytes: 16 * 1024 * 1024,
    packs: true,
    async deliver(part, signal) {
      const { body } = part;
      const headers = { "content-type": typeOf(part), [digestHeader]: sha256(body) };
      const own = { path: partPath(part), body, headers };
      if (part.replaces) await put(own, signal);
      else if (!(await putNew(own, signal))) {
        const path = otherPath(part);
        await put({ ...own, path }, signal);
        return path;
      }
      return undefined;
    },
    // One object, always the same: the rights that are asked for do not include deleting.
    async test(signal) {
      const headers = { "content-type": "text/plain" };
      await put({ path: ".svc-export-test", body: new Uint8Array(), headers }, signal);
    },
  };
}

interface S3Object {
  readonly path: string;
  readonly body: Part["body"];
  readonly headers: Readonly<Record<string, string>>;
}

const typeOf = ({ format }: Part) =>
  format === "jsonl" ? "application/gzip" : "application/vnd.apache.parquet";

async function signed(
  { endpoint, region, bucket, prefix }: S3Target,
  { accessKeyId, secretAccessKey, sessionToken }: S3Secrets,
  object: S3Object & { readonly method: string },
): Promise<{ readonly url: string; readonly headers: Headers }> {
  const key = `${bucket}/${prefix === "" ? "" : `${prefix}/`}${object.path}`;
  const { url, headers } = await new AwsV4Signer({
    method: object.method,
    url: `${endpoint}/${key.split("/").map(encodeURIComponent).join("/")}`,
    headers: {
      ...object.headers,
      "x-amz-content-sha256": sha256(object.body),
    },
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: "s3",
    region,
  }).sign();
  return { url: url.href, headers };
}

/** The error's code, such as `NoSuchBucket`; messages may quote what was sent. */
function explain(body: string): string {
  const code = /<Code>([A-Za-z0-9.]{1,60})<\/Code>/.exec(body)?.[1];
  return code === undefined ? "" : ` (${code})`;
}
