import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSite } from "./site.ts";

const script = "const app = 1;\n".repeat(50);
const dist = mkdtempSync(join(tmpdir(), "svc-site-"));

function addBuild(stamp: string, name: string): void {
  const assets = join(dist, stamp, "assets");
  mkdirSync(assets, { recursive: true });
  writeFileSync(join(assets, name), script);
  writeFileSync(join(assets, `${name}.br`), "as brotli");
  writeFileSync(join(assets, `${name}.gz`), Bun.gzipSync(new TextEncoder().encode(script)));
  writeFileSync(join(dist, stamp, "secret.txt"), "not for anybody");
  writeFileSync(
    join(dist, stamp, "index.html"),
    `<meta name="nonce" content="{{nonce}}"><meta name="build" content="{{build}}"><script src="/assets/${name}"></script>`,
  );
  const files = { [name]: { bytes: script.length } };
  writeFileSync(join(dist, stamp, "manifest.json"), JSON.stringify({ files }));
  writeFileSync(join(dist, "next"), stamp);
  renameSync(join(dist, "next"), join(dist, "current"));
}

let isHttps = false;
const site = createSite({
  dist,
  gatewayUrl: () => "https://models.example.com/v1",
  isHttps: () => isHttps,
});
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => site.respond(request) ?? new Response("not the site's", { status: 418 }),
});
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers, decompress: false });

beforeEach(() => {
  rmSync(dist, { recursive: true });
  addBuild("first", "main-1.js");
});
afterAll(async () => {
  await server.stop(true);
  rmSync(dist, { recursive: true });
});

describe("pages", () => {
  const pages = ["/", "/sign-in", "/join", "/me", "/a/acc_1/keys", "/operator", "/operator/x/y"];
  test.each(pages)("%s is the app, and is never kept", async (path) => {
    const reply = await get(path);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(reply.headers.get("cache-control")).toBe("no-store");
    expect(await reply.text()).toContain("/assets/main-");
  });

  test("each has a nonce of its own, the same in the policy and in the page", async () => {
    const nonces = new Set<string>();
    for (let at = 0; at < 3; at++) {
      const reply = await get("/sign-in");
      const policy = reply.headers.get("content-security-policy") ?? "";
      const nonce = /style-src 'self' 'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
      expect(nonce.length).toBeGreaterThan(20);
      expect(await reply.text()).toContain(`content="${nonce}"`);
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(3);
  });

  test("forbid the browser what they do not need", async () => {
    const { headers } = await get("/");
    const policy = headers.get("content-security-policy") ?? "";
    const parts = policy.split("; ").filter((part) => !part.startsWith("style-src"));
    expect(parts).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "img-src 'self' data: blob:",
      "media-src blob: data:",
      "font-src 'self'",
      "connect-src 'self' https://models.example.com",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'self'",
    ]);
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("permissions-policy")).toBe("camera=(), microphone=(), geolocation=()");
  });

  test("insist on https only where people come by it", async () => {
    expect((await get("/")).headers.get("strict-transport-security")).toBeNull();
    isHttps = true;
    expect((await get("/")).headers.get("strict-transport-security")).toBe("max-age=31536000");
    isHttps = false;
  });

  test("a browser at an unknown path gets the app with 404, a program is left to others", async () => {
    const seen = await get("/nowhere", { accept: "text/html,*/*" });
    expect(seen.status).toBe(404);
    expect(await seen.text()).toContain("/assets/main-1.js");
    expect((await get("/nowhere", { accept: "application/json" })).status).toBe(418);
    expect((await get("/api/nowhere", { accept: "text/html" })).status).toBe(418);
    expect((await get("/", {}, "POST")).status).toBe(418);
  });
});

describe("assets", () => {
  test("are kept for good, with their type", async () => {
    const reply = await get("/assets/main-1.js");
    expect(reply.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(reply.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(reply.headers.get("vary")).toBe("accept-encoding");
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("come as the client takes them", async () => {
    const plain = await get("/assets/main-1.js", { "accept-encoding": "identity" });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(await plain.text()).toBe(script);
    const brotli = await get("/assets/main-1.js", { "accept-encoding": "gzip, br" });
    expect(brotli.headers.get("content-encoding")).toBe("br");
    expect(await brotli.text()).toBe("as brotli");
    const gzip = await get("/assets/main-1.js", { "accept-encoding": "gzip, br;q=0" });
    expect(gzip.headers.get("content-encoding")).toBe("gzip");
    expect(new TextDecoder().decode(Bun.gunzipSync(await gzip.bytes()))).toBe(script);
  });

  test("are not sent again to who has them", async () => {
    const first = await get("/assets/main-1.js", { "accept-encoding": "br" });
    const tag = first.headers.get("etag") ?? "";
    const same = { "accept-encoding": "br", "if-none-match": `"other", W/${tag}` };
    const again = await get("/assets/main-1.js", same);
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    const other = { "accept-encoding": "identity", "if-none-match": tag };
    expect((await get("/assets/main-1.js", other)).status).toBe(200);
  });

  test("HEAD has the head and no body", async () => {
    const reply = await get("/assets/main-1.js", { "accept-encoding": "identity" }, "HEAD");
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(await reply.text()).toBe("");
  });

  test("only what the builder listed can be had", async () => {
    const paths = [
      "/assets/..%2fsecret.txt",
      "/assets/%2e%2e/secret.txt",
      "/assets/main-1.js.br",
      "/assets/other.js",
      "/assets/",
    ];
    for (const path of paths) {
      const reply = await get(path, { "accept-encoding": "identity" });
      expect(reply.status).not.toBe(200);
      expect(await reply.text()).not.toContain("not for anybody");
    }
  });
});

test("a new build is served at once, and the files of the one before still are", async () => {
  await get("/");
  addBuild("second", "main-2.js");
  expect(await (await get("/")).text()).toContain("/assets/main-2.js");
  expect((await get("/assets/main-1.js")).status).toBe(200);
  expect((await get("/assets/main-2.js")).status).toBe(200);
});

test("a page and the site name the same build", async () => {
  expect(site.build()).toBe("first");
  expect(await (await get("/")).text()).toContain('<meta name="build" content="first">');
});

test("after a restart the files of the builds before are still served, of the newest three", () => {
  for (const [at, stamp] of ["first", "second", "third", "fourth"].entries()) {
    addBuild(stamp, `main-${at + 1}.js`);
    utimesSync(join(dist, stamp, "manifest.json"), 1_000 + at, 1_000 + at);
  }
  mkdirSync(join(dist, "half"));
  mkdirSync(join(dist, ".staging-7"));
  writeFileSync(join(dist, ".staging-7", "manifest.json"), "{");
  const restarted = createSite({ dist, gatewayUrl: () => "", isHttps: () => false });
  const statusOf = (at: number) =>
    restarted.respond(new Request(`http://127.0.0.1/assets/main-${at}.js`))?.status;
  expect([4, 3, 2, 1].map(statusOf)).toEqual([200, 200, 200, 404]);
  rmSync(join(dist, "second"), { recursive: true });
  expect(statusOf(2)).toBe(404);
});

test("without a build, a page says how to make one", () => {
  const empty = createSite({
    dist: join(dist, "none"),
    gatewayUrl: () => "http://127.0.0.1:8080/v1",
    isHttps: () => false,
  });
  const reply = empty.respond(new Request("http://127.0.0.1/sign-in"));
  expect(reply?.status).toBe(503);
  return expect(reply?.text()).resolves.toContain("console/build.ts");
});
