import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { requestPath } from "../../base/network/address.ts";
import { isClone } from "../../base/place.ts";
import { chooseEncoding } from "../http/encoding.ts";

export interface SiteOptions {
  /** Folder of the console builds; the file `current` names the active one. */
  readonly dist: string;
  /** The address that the console's playground calls. */
  readonly gatewayUrl: () => string;
  /** Whether people reach the platform over https. */
  readonly isHttps: () => boolean;
}

export interface Site {
  /** Undefined when the path is none of the console's. */
  respond(request: Request): Response | undefined;
  /** Names the active build; undefined while there is none. */
  build(): string | undefined;
}

/** What the console's pages are at; anything deeper belongs to the app itself. */
const pagePattern =
  /^\/(?:$|(?:sign-in(?:\/callback)?|join|me|changelog|reference)$|(?:a|operator)(?:\/|$))/;
/** The builder's own names: no slash, no dots in a row. */
const assetPattern = /^\/assets\/([\w-]+\.(js|css|svg))$/;
const types = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
} as const;

/** The console, as its builder left it: no file is read that the builder did not list. */
export function createSite({ dist, gatewayUrl, isHttps }: SiteOptions): Site {
  const builds = new Builds(dist);
  const page = (status: number) => {
    const build = builds.current();
    const nonce = crypto.randomUUID();
    const headers = pageHeaders({ nonce, gatewayUrl: gatewayUrl(), isHttps: isHttps() });
    if (build === undefined) return new Response(notBuilt, { status: 503, headers });
    const html = build.html.replace("{{nonce}}", nonce).replace("{{build}}", build.stamp);
    return new Response(html, { status, headers });
  };
  const route = (request: Request): Response | undefined => {
    const path = requestPath(request.url);
    const [, name, extension] = assetPattern.exec(path) ?? [];
    if (name !== undefined) {
      const folder = builds.folderOf(name);
      const type = types[extension as keyof typeof types];
      return folder === undefined
        ? new Response("File not found.", { status: 404, headers: plainHeaders })
        : asset({ request, path: join(folder, "assets", name), name, type });
    }
    if (pagePattern.test(path)) return page(200);
    const wantsPage = request.headers.get("accept")?.includes("text/html") === true;
    return wantsPage && !path.startsWith("/api") ? page(404) : undefined;
  };
  return {
    build() {
      try {
        return builds.current()?.stamp;
      } catch {
        // A build is being put in place; no reply may fail because of it.
        return undefined;
      }
    },
    respond(request) {
      if (request.method === "GET") return route(request);
      if (request.method !== "HEAD") return undefined;
      const response = route(request);
      return response && new Response(null, response);
    },
  };
}

interface Build {
  readonly stamp: string;
  readonly html: string;
  readonly folder: string;
  readonly names: ReadonlySet<string>;
}

/** A build stays on disk for a while after the next one: its pages may still be open in a browser. */
const mostBuilds = 3;

/** The active build and the newest previous one, even from before this process. */
class Builds {
  readonly #dist: string;
  #stamp: string | undefined;
  #known: readonly Build[] = [];

  constructor(dist: string) {
    this.#dist = dist;
  }

  /** Looked up for each page: a new build is served without a restart. */
  current(): Build | undefined {
    const note = join(this.#dist, "current");
    if (!existsSync(note)) return undefined;
    const stamp = readFileSync(note, "utf8");
    if (!existsSync(join(this.#dist, stamp, "manifest.json"))) return undefined;
    if (stamp !== this.#stamp) {
      const build = readBuild(this.#dist, stamp);
      this.#known = [build, ...olderBuilds(this.#dist, stamp)];
      this.#stamp = stamp;
    }
    return this.#known[0];
  }

  folderOf(name: string): string | undefined {
    if (this.#stamp === undefined) this.current();
    return this.#known.find(
      // The builder may have taken an old one away meanwhile.
      ({ names, folder }) => names.has(name) && existsSync(join(folder, "assets", name)),
    )?.folder;
  }
}

function readBuild(dist: string, stamp: string): Build {
  const folder = join(dist, stamp);
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  return {
    stamp,
    html: readFileSync(join(folder, "index.html"), "utf8"),
    folder,
    names: new Set(Object.keys(manifest.files)),
  };
}

function olderBuilds(dist: string, current: string): readonly Build[] {
  const madeMs = (name: string) =>
    statSync(join(dist, name, "manifest.json"), { throwIfNoEntry: false })?.mtimeMs;
  return readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== current)
    .map(({ name }) => ({ name, ms: madeMs(name) }))
    .filter(({ ms }) => ms !== undefined)
    .toSorted((one, other) => (other.ms ?? 0) - (one.ms ?? 0))
    .slice(0, mostBuilds - 1)
    .flatMap(({ name }) => {
      try {
        return [readBuild(dist, name)];
      } catch {
        // Taken away while it was read.
        return [];
      }
    });
}

const plainHeaders = { "x-content-type-options": "nosniff", "cache-control": "no-store" };

/** The name changes with the content, so a cached copy never expires. */
function asset(options: {
  readonly request: Request;
  readonly path: string;
  readonly name: string;
  readonly type: string;
}): Response {
  const { request, path, name, type } = options;
  const encoding = chooseEncoding(request.headers.get("accept-encoding"));
  const tag = `"${name}${encoding === undefined ? "" : `-${encoding}`}"`;
  const headers: Record<string, string> = {
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": type,
    "cross-origin-resource-policy": "same-origin",
    etag: tag,
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    ...(encoding === undefined ? {} : { "content-encoding": encoding }),
  };
  if (hasTag(request.headers.get("if-none-match"), tag))
    return new Response(null, { status: 304, headers });
  const ending = encoding === "br" ? ".br" : encoding === "gzip" ? ".gz" : "";
  return new Response(Bun.file(`${path}${ending}`), { headers });
}

function hasTag(given: string | null, tag: string): boolean {
  if (given === null) return false;
  return given.split(",").some((one) => one.trim() === "*" || one.trim().replace("W/", "") === tag);
}

const howToBuild = isClone
  ? "Start the server with <code>npm start</code>, which builds it, or run <code>node_modules/.bin/bun console/build.ts</code> and reload this page."
  : "It is missing in this package. Install svc-gateway again and reload this page.";
const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>svc gateway</title>
<h1>The console is not built</h1>
<p>${howToBuild} The API under /api works without it.</p>`;

interface PageHeaderOptions {
  /** Per reply: style elements without it are blocked. */
  readonly nonce: string;
  /** The gateway, which the playground calls like any client. */
  readonly gatewayUrl: string;
  readonly isHttps: boolean;
}

/** The content security policy: blocks everything that the console does not need. */
function pageHeaders(options: PageHeaderOptions): Readonly<Record<string, string>> {
  const { nonce, gatewayUrl, isHttps } = options;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src blob: data:",
    "font-src 'self'",
    `connect-src 'self' ${new URL(gatewayUrl).origin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ];
  return {
    "cache-control": "no-store",
    "content-security-policy": policy.join("; "),
    "content-type": "text/html; charset=utf-8",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    ...(isHttps ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}
