import { invalid } from "../base/problem.ts";
import { checkReference, type Reference, variableIn } from "./references.ts";

export const streams = ["receipts", "audit"] as const;
export type Stream = (typeof streams)[number];

export const formats = ["jsonl", "parquet"] as const;
export type Format = (typeof formats)[number];

/** A directory of the machine that exports. It must exist: what was not mounted is not filled. */
export interface FileTarget {
  readonly kind: "file";
  readonly dir: string;
}

export interface HttpTarget {
  readonly kind: "http";
  readonly url: string;
  readonly allowPrivate: boolean;
  /** The whole Authorization header. */
  readonly authorization: Reference | undefined;
  readonly signing: Reference | undefined;
}

export interface S3Target {
  readonly kind: "s3";
  readonly bucket: string;
  /** Without slashes around it; "" for none. */
  readonly prefix: string;
  /** An origin; the bucket is the first part of the path. */
  readonly endpoint: string;
  readonly region: string;
  readonly allowPrivate: boolean;
  readonly accessKeyId: Reference;
  readonly secretAccessKey: Reference;
  readonly sessionToken: Reference | undefined;
}

export type Target = FileTarget | HttpTarget | S3Target;

/** Where receipts and audit records go. Secrets are not part of it. */
export interface Destination {
  readonly id: string;
  readonly name: string;
  readonly streams: readonly Stream[];
  readonly format: Format;
  readonly target: Target;
  /** Rows from before this hour are not exported. */
  readonly fromMs: number;
  readonly createdAtMs: number;
  readonly pausedAtMs: number | undefined;
}

/** Each is looked at every few seconds. */
export const mostDestinations = 8;

const nameForm = /^[a-z0-9][a-z0-9-]{0,39}$/;

export function checkName(name: string): string {
  if (nameForm.test(name)) return name;
  throw invalid({
    name: `name must be 1 to 40 lowercase letters, digits and hyphens, such as "warehouse", not "${name}".`,
  });
}

export function readStreams(text: string | undefined): readonly Stream[] {
  if (text === undefined) return streams;
  const named = text.split(",").map((word) => word.trim());
  const unknown = named.find((word) => !streams.some((known) => known === word));
  if (unknown !== undefined)
    throw invalid({ what: `what must be receipts, audit or both with a comma, not "${unknown}".` });
  return streams.filter((stream) => named.includes(stream));
}

export function readFormat(text: string | undefined): Format {
  const format = formats.find((known) => known === (text ?? "jsonl"));
  if (format === undefined)
    throw invalid({ format: `format must be jsonl or parquet, not "${text}".` });
  return format;
}

/** As an operator gives it. */
export interface TargetInput {
  readonly to: string;
  readonly allow_private?: boolean | undefined;
  readonly authorization?: string | undefined;
  readonly sign_with?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly access_key_id?: string | undefined;
  readonly secret_access_key?: string | undefined;
  readonly session_token?: string | undefined;
}

/** What is wrong with an address, if anything. */
export type CheckAddress = (url: string, allowPrivate: boolean) => string | undefined;

const ofHttp = ["authorization", "sign_with"] as const;
const ofS3 = ["endpoint", "region", "access_key_id", "secret_access_key", "session_token"] as const;

export function readTarget(input: TargetInput, checkAddress: CheckAddress): Target {
  const url = URL.parse(input.to);
  switch (url?.protocol) {
    case "file:":
      refuseOthers(input, ["allow_private", ...ofHttp, ...ofS3], "a directory");
      return readFile(url);
    case "https:":
    case "http:":
      refuseOthers(input, ofS3, "an HTTP endpoint");
      return readHttp(input, url, checkAddress);
    case "s3:":
      refuseOthers(input, ofHttp, "a bucket");
      return readS3(input, url, checkAddress);
    default:
      throw invalid({
        to: "to must be a directory as file:///var/exports, an HTTP endpoint as https://host/path, or a bucket as s3://bucket/prefix.",
      });
  }
}

function refuseOthers(input: TargetInput, names: readonly (keyof TargetInput)[], what: string) {
  const given = names.find((name) => input[name] !== undefined && input[name] !== false);
  if (given !== undefined) throw invalid({ [given]: `${given} does not go with ${what}.` });
}

function readFile(url: URL): FileTarget {
  if (url.host !== "" || url.search !== "" || url.hash !== "" || url.pathname === "/")
    throw invalid({ to: "to must name a directory with its whole path: file:///var/exports." });
  try {
    return { kind: "file", dir: decodeURIComponent(url.pathname).replace(/\/+$/, "") };
  } catch {
    throw invalid({ to: "to has a percent sign that encodes nothing. Write it as %25." });
  }
}

function readHttp(input: TargetInput, url: URL, checkAddress: CheckAddress): HttpTarget {
  if (url.username !== "" || url.password !== "")
    throw invalid({ to: "to must not contain a user name or password. Use authorization." });
  const allowPrivate = input.allow_private ?? false;
  checkUrl({ url, field: "to", allowPrivate, checkAddress });
  return {
    kind: "http",
    url: url.href,
    allowPrivate,
    authorization: reference(input, "authorization"),
    signing: reference(input, "sign_with"),
  };
}

const bucketForm = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const prefixForm = /^[A-Za-z0-9!_.*'()=/-]{0,200}$/;
const regionForm = /^[a-z0-9-]{1,40}$/;

function readS3(input: TargetInput, url: URL, checkAddress: CheckAddress): S3Target {
  const { region = "us-east-1", allow_private: allowPrivate = false } = input;
  const bucket = url.host;
  const prefix = url.pathname.replace(/^\/+|\/+$/g, "");
  if (!bucketForm.test(bucket) || url.search !== "" || url.hash !== "" || url.username !== "")
    throw invalid({ to: "to must name a bucket and a prefix: s3://bucket/prefix." });
  if (!prefixForm.test(prefix) || /(^|\/)\.{0,2}(\/|$)/.test(prefix === "" ? "x" : prefix))
    throw invalid({ to: "to must have a prefix of letters, digits, hyphens, dots and slashes." });
  if (!regionForm.test(region))
    throw invalid({ region: "region must be the name of a region, such as eu-central-1." });
  const endpoint = new URL(readEndpoint(input.endpoint ?? `https://s3.${region}.amazonaws.com`));
  checkUrl({ url: endpoint, field: "endpoint", allowPrivate, checkAddress });
  const isOwnKey = input.access_key_id !== undefined || input.secret_access_key !== undefined;
  const [id, secret] = [reference(input, "access_key_id"), reference(input, "secret_access_key")];
  if (isOwnKey && (id === undefined || secret === undefined))
    throw invalid({
      [id === undefined ? "access_key_id" : "secret_access_key"]:
        "access_key_id and secret_access_key must be set together.",
    });
  return {
    kind: "s3",
    bucket,
    prefix,
    endpoint: endpoint.origin,
    region,
    allowPrivate,
    accessKeyId: id ?? "env:AWS_ACCESS_KEY_ID",
    secretAccessKey: secret ?? "env:AWS_SECRET_ACCESS_KEY",
    sessionToken: reference(input, "session_token"),
  };
}

function readEndpoint(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/") return text;
  throw invalid({ endpoint: "endpoint must be an address without a path: https://s3.example." });
}

function checkUrl(of: {
  readonly url: URL;
  readonly field: string;
  readonly allowPrivate: boolean;
  readonly checkAddress: CheckAddress;
}): void {
  const { url, field, allowPrivate, checkAddress } = of;
  const problem = checkAddress(url.href, allowPrivate);
  if (problem !== undefined) throw invalid({ [field]: `${field} ${problem}.` });
  if (url.protocol === "http:" && !allowPrivate)
    throw invalid({
      [field]: `${field} must start with https://. For http:// in a private network, set allow_private.`,
    });
}

function reference(input: TargetInput, field: keyof TargetInput): Reference | undefined {
  const text = input[field];
  return typeof text === "string" ? checkReference(text, field) : undefined;
}

/** The names of the variables with its secrets. */
export function variablesOf(target: Target): readonly string[] {
  const references =
    target.kind === "http"
      ? [target.authorization, target.signing]
      : target.kind === "s3"
        ? [target.accessKeyId, target.secretAccessKey, target.sessionToken]
        : [];
  return references.flatMap((one) => (one === undefined ? [] : (variableIn(one) ?? [])));
}

/** What was set beside the address; secrets as references. */
export function targetSettings(target: Target): Readonly<Record<string, string | boolean>> {
  switch (target.kind) {
    case "file":
      return {};
    case "http":
      return given({
        allow_private: target.allowPrivate,
        authorization: target.authorization,
        sign_with: target.signing,
      });
    case "s3":
      return given({
        endpoint: target.endpoint,
        region: target.region,
        allow_private: target.allowPrivate,
        access_key_id: target.accessKeyId,
        secret_access_key: target.secretAccessKey,
        session_token: target.sessionToken,
      });
    default:
      return target satisfies never;
  }
}

const given = (settings: Readonly<Record<string, string | boolean | undefined>>) =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );

/** As it was given; it has no secrets. */
export function targetText(target: Target): string {
  switch (target.kind) {
    case "file":
      return `file://${target.dir.split("/").map(encodeURIComponent).join("/")}`;
    case "http":
      return target.url;
    case "s3":
      return `s3://${target.bucket}/${target.prefix}`;
    default:
      return target satisfies never;
  }
}
