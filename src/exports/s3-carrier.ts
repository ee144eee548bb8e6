import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { type Carrier, type Part, partPath } from "./delivery.ts";
import type { S3Target } from "./destination.ts";
import { type Call, send } from "./http-call.ts";

export interface S3Secrets {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

/**
 * One PUT per object, signed together with the hash of its content, so that the server refuses what
 * arrives changed. An object is there as a whole or not at all, and a repeated one replaces it.
 */
export function s3Carrier(target: S3Target, secrets: S3Secrets, call: Call): Carrier {
  const put = async (path: string, body: Part["body"], type: string, signal: AbortSignal) => {
    const { url, headers } = await signed(target, secrets, { path, body, type });
    await send(call, url, { method: "PUT", headers, body, signal }, explain);
  };
  return {
    mostRows: 20_000,
    mostBytes: 16 * 1024 * 1024,
    packs: true,
    deliver: (part, signal) => put(partPath(part), part.body, typeOf(part), signal),
    // One object, always the same: the rights that are asked for do not include deleting.
    test: (signal) => put(".svc-export-test", new Uint8Array(), "text/plain", signal),
  };
}

const typeOf = ({ format }: Part) =>
  format === "jsonl" ? "application/gzip" : "application/vnd.apache.parquet";

async function signed(
  { endpoint, region, bucket, prefix }: S3Target,
  { accessKeyId, secretAccessKey, sessionToken }: S3Secrets,
  object: { readonly path: string; readonly body: Uint8Array; readonly type: string },
): Promise<{ readonly url: string; readonly headers: Headers }> {
  const key = `${bucket}/${prefix === "" ? "" : `${prefix}/`}${object.path}`;
  const { url, headers } = await new AwsV4Signer({
    method: "PUT",
    url: `${endpoint}/${key.split("/").map(encodeURIComponent).join("/")}`,
    headers: {
      "content-type": object.type,
      "x-amz-content-sha256": createHash("sha256").update(object.body).digest("hex"),
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
