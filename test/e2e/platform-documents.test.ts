import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { toOpenApi } from "../../src/wire/v1/openapi.ts";
import { startTestGateway, type TestGateway } from "../harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const read = (path: string, init?: RequestInit) => fetch(`${gateway.platformUrl}${path}`, init);

test("the platform serves the description, with the address of this gateway in it", async () => {
  const response = await read("/openapi.json");
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const served = await response.json();
  expect(served).toEqual(JSON.parse(JSON.stringify(toOpenApi(gateway.baseUrl))));
  expect(served.servers[0].variables.base_url.default).toBe(gateway.baseUrl);
});

describe("the changelog of the API", () => {
  test("is a page that loads nothing from elsewhere and runs nothing", async () => {
    const response = await read("/changelog");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toStartWith("default-src 'none'");
    const page = await response.text();
    expect(page).toContain("The first version: chat, embeddings, speech (preview) and models.");
    expect(page).not.toContain("<script");
  });

  test("is text, too", async () => {
    const response = await read("/changelog.txt");
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toContain("The first version: chat, embeddings");
  });
});

test("only GET and HEAD are answered, and only at these paths", async () => {
  expect((await read("/changelog", { method: "HEAD" })).status).toBe(200);
  const refused = await read("/openapi.json", { method: "POST" });
  expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect((await read("/__proto__")).status).toBe(404);
  expect((await read("/changelog/x")).status).toBe(404);
});

test("none of it is on the gateway's own listener", async () => {
  for (const path of ["/openapi.json", "/changelog", "/changelog.txt"])
    expect((await fetch(`${gateway.origin}${path}`)).status).toBe(404);
});
