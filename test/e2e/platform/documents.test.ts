import { describe, expect, test } from "bun:test";
import { readChanges } from "../../../src/wire/changes.ts";
import { toOpenApi } from "../../../src/wire/v1/openapi/openapi.ts";
import { usePlatform } from "../../setup/use-platform.ts";

const { gateway } = usePlatform({ isShared: true });

const read = (path: string, init?: RequestInit) => fetch(`${gateway.platformUrl}${path}`, init);

test("the platform serves the description, with the address of this gateway in it", async () => {
  const response = await read("/openapi.json");
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const served = await response.json();
  expect(served).toEqual(JSON.parse(JSON.stringify(toOpenApi(gateway.baseUrl))));
  expect(served.servers[0].variables.base_url.default).toBe(gateway.baseUrl);
});

test("the platform describes its own API, every route with who may ask", async () => {
  const served = await (await read("/api/openapi.json")).json();
  expect(served.openapi).toBe("3.1.0");
  expect(served.paths["/api/changes"].get["x-access"]).toBe("anyone");
  expect(served.paths["/api/accounts/{account}/members/{id}"].patch["x-access"]).toBe("owner");
});

describe("the changelog of the API", () => {
  const first = "The first version: chat, embeddings, speech (preview) and models.";

  test("is read by anybody, for pages", async () => {
    const response = await read("/api/changes");
    expect(response.status).toBe(200);
    const changes = await response.json();
    expect(changes).toHaveLength(readChanges().length);
    expect(changes.at(-1)).toEqual({
      date: "2026-11-15",
      version: "v1",
      kind: "added",
      what: first,
      notes: [],
    });
  });

  test("is text, too", async () => {
    const response = await read("/changelog.txt");
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toContain(first);
  });
});

test("only GET and HEAD are answered, and only at these paths", async () => {
  expect((await read("/changelog.txt", { method: "HEAD" })).status).toBe(200);
  const refused = await read("/openapi.json", { method: "POST" });
  expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect((await read("/__proto__")).status).toBe(404);
  expect((await read("/openapi.json/x")).status).toBe(404);
});

test("none of it is on the gateway's own listener", async () => {
  for (const path of [
    "/openapi.json",
    "/api/openapi.json",
    "/api/changes",
    "/changelog",
    "/changelog.txt",
  ])
    expect((await fetch(`${gateway.origin}${path}`)).status).toBe(404);
});

describe("no reply of the platform is stored by caches or read as another type:", () => {
  for (const [path, method, type] of [
    ["/", "GET", "text/html"],
    ["/api/session", "GET", "application/json"],
    ["/healthz", "GET", "application/json"],
    ["/openapi.json", "GET", "application/json"],
    ["/openapi.json", "POST", "application/json"],
    ["/nothing", "GET", "application/json"],
    ["/changelog.txt", "GET", "text/plain"],
    ["/changelog", "GET", "text/html"],
  ] as const)
    test(`${method} ${path}`, async () => {
      const { headers } = await read(path, { method });
      expect(headers.get("content-type")).toStartWith(type);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
    });
});
