import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { briefGateway, freePort } from "../../setup/platform-home.ts";

const publicUrl = "https://console.example.com";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const paths = ["/", "/healthz", "/openapi.json", "/changelog.txt", "/metrics", "/api/session"];
const ask = (url: string, host: string, path = "/api/session") =>
  fetch(`${url}${path}`, { headers: { host } });

/** What a client that leaves a header out gets: the first line of the reply. */
function askRaw(url: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  void Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(`${lines.join("\r\n")}\r\n\r\n`),
      data: (socket, bytes) => {
        text += bytes.toString();
        if (text.includes("\r\n")) socket.end();
      },
      close: () => resolve(text.split("\r\n", 1)[0] ?? ""),
    },
  });
  return promise;
}

describe("a request by a name that is not the platform's", () => {
  test("is refused at every path, whoever has pointed that name here", async () => {
    const { port } = new URL(gateway.platformUrl);
    for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example"])
      for (const path of paths) {
        const reply = await ask(gateway.platformUrl, host, path);
        const { error } = await reply.json();
        expect([path, reply.status, error.code]).toEqual([path, 421, "wrong_host"]);
        expect(error.message).toContain("SVC_PLATFORM_URL");
      }
  });

  test("is refused also where the name is missing or no name", async () => {
    const url = gateway.platformUrl;
    expect(await askRaw(url, ["GET /api/session HTTP/1.0"])).toMatch(/^HTTP\/1\.[01] 4(00|21) /);
    expect(await askRaw(url, ["GET /api/session HTTP/1.1"])).toMatch(/^HTTP\/1\.1 4(00|21) /);
    for (const host of ["", "a b", "127.0.0.1@evil.example", "[::1", "evil.example/127.0.0.1"])
      expect(
        await askRaw(url, ["GET /api/session HTTP/1.1", `Host: ${host}`, "Connection: close"]),
      ).toMatch(/^HTTP\/1\.1 4(00|21) /);
  });
});

test("behind a proxy the name in SVC_PLATFORM_URL is the platform's, with any port", async () => {
  const port = freePort();
  await using _proxied = await briefGateway({
    environment: {
      SVC_PLATFORM_URL: "https://Console.Example.com",
      SVC_PLATFORM_PORT: port,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  for (const host of ["console.example.com", "CONSOLE.example.com:443", `127.0.0.1:${port}`])
    expect((await ask(url, host)).status).toBe(200);
  for (const host of ["example.com", "console.example.com.evil.example"])
    expect((await ask(url, host)).status).toBe(421);
});

describe("a page at the same host", () => {
  const change = (url: string, origin: string, host: string) =>
    fetch(`${url}/api/session`, {
      method: "POST",
      headers: { origin, host, "content-type": "application/json" },
      body: JSON.stringify({ email: "nobody@example.com", password: "wrong password" }),
    });

  test("may change something by https alone, where that is the platform's address", async () => {
    const port = freePort();
    const own = `127.0.0.1:${port}`;
    await using _secure = await briefGateway({
      environment: { SVC_PLATFORM_URL: publicUrl, SVC_PLATFORM_PORT: port },
    });
    const ask = async (origin: string, host: string) =>
      (await change(`http://${own}`, origin, host)).status;
    expect(await ask(publicUrl, "console.example.com")).toBe(401);
    expect(await ask("http://console.example.com", "console.example.com")).toBe(403);
    expect(await ask("https://console.example.com:444", "console.example.com:444")).toBe(403);
    expect(await ask(`http://${own}`, own)).toBe(401);
    expect(await ask("http://127.0.0.1:1", own)).toBe(403);
  });

  test("may change something by each of its own addresses where none is set", async () => {
    const { port } = new URL(gateway.platformUrl);
    const ask = async (host: string) =>
      (await change(gateway.platformUrl, `http://${host}`, host)).status;
    expect(await ask(`localhost:${port}`)).toBe(401);
    expect(await ask(`[::1]:${port}`)).toBe(401);
    expect(await ask("box.lan:8081")).toBe(421);
  });
});
