/** As much of an S3 server as an upload meets. It computes signatures by itself, and checks contents. */

import { createHash, createHmac } from "node:crypto";

export const s3Keys = { id: "AKIDEXAMPLE", secret: "a/secret+key", token: "session/token==" };

export interface S3StandIn {
  readonly url: string;
  /** By bucket and key. */
  readonly objects: Map<string, Uint8Array<ArrayBuffer>>;
  /** All uploads that were accepted, in their order. */
  readonly puts: readonly string[];
  /** What it lets the client do besides uploads. */
  readonly allows: { reading: boolean; conditions: boolean };
  /** Called when an object is stored, before the reply. */
  onStored: () => void | Promise<void>;
  stop(): Promise<void>;
}

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string) =>
  createHmac("sha256", key).update(data).digest();

export function startS3(region: string): S3StandIn {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  const digests = new Map<string, string>();
  const puts: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer());
      const path = new URL(request.url).pathname;
      if (!path.startsWith("/bucket/")) return failure(404, "NoSuchBucket");
      if (request.headers.get("x-amz-security-token") !== s3Keys.token)
        return failure(403, "InvalidToken");
      if (!isSigned(request, path, region)) return failure(403, "SignatureDoesNotMatch");
      if (request.headers.get("x-amz-content-sha256") !== sha256(body))
        return failure(400, "XAmzContentSHA256Mismatch");
      const key = decodeURIComponent(path.slice(1));
      if (request.method === "HEAD") return head(key);
      if (request.headers.has("if-none-match")) {
        if (!standIn.allows.conditions) return failure(501, "NotImplemented");
        if (objects.has(key)) return failure(412, "PreconditionFailed");
      }
      objects.set(key, body);
      digests.set(key, request.headers.get("x-amz-meta-sha256") ?? "");
      puts.push(path);
      await standIn.onStored();
      return new Response("");
    },
  });
  const head = (key: string): Response =>
    standIn.allows.reading
      ? new Response(null, {
          status: objects.has(key) ? 200 : 404,
          headers: { "x-amz-meta-sha256": digests.get(key) ?? "" },
        })
      : new Response(null, { status: 403 });
  const standIn: S3StandIn = {
    url: `http://127.0.0.1:${server.port}`,
    objects,
    puts,
    allows: { reading: true, conditions: true },
    onStored: () => {},
    stop: () => server.stop(true),
  };
  return standIn;
}

const failure = (status: number, code: string) =>
  new Response(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`, { status });

/** Signature version 4, as its specification has it. */
function isSigned(request: Request, path: string, region: string): boolean {
  const header = request.headers.get("authorization") ?? "";
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      header,
    );
  const [, id, day = "", scope, names = "", signature] = match ?? [];
  if (id !== s3Keys.id || scope !== `${region}/s3/aws4_request`) return false;
  for (const name of ["host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"])
    if (!names.split(";").includes(name)) return false;
  const lines = names.split(";").map((name) => `${name}:${request.headers.get(name)}\n`);
  const digest = request.headers.get("x-amz-content-sha256") ?? "";
  const canonical = [request.method, path, "", lines.join(""), names, digest].join("\n");
  const date = request.headers.get("x-amz-date") ?? "";
  const text = ["AWS4-HMAC-SHA256", date, `${day}/${scope}`, sha256(canonical)].join("\n");
  const key = [region, "s3", "aws4_request"].reduce(
    (from, word) => hmac(from, word),
    hmac(`AWS4${s3Keys.secret}`, day),
  );
  return hmac(key, text).toString("hex") === signature;
}
