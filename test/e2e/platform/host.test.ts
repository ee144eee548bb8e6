import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

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

  test("cannot sign in, even from a page of that very name", async () => {
    const reply = await fetch(`${gateway.platformUrl}/api/session`, {
      method: "POST",
      headers: {
        host: "evil.example",
        origin: "http://evil.example",
        "content-type": "application/json",
      },
      body: JSON.stringify({ email: "nobody@example.com", password: "wrong password" }),
    });
    expect(reply.status).toBe(421);
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

test("the platform answers by every name of this machine", async () => {
  const { port } = new URL(gateway.platformUrl);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "LOCALHOST"])
    expect((await ask(gateway.platformUrl, host)).status).toBe(200);
  // It listens on loopback alone.
  expect((await ask(gateway.platformUrl, "10.0.0.5")).status).toBe(421);
});

test("behind a proxy the name in SVC_PLATFORM_URL is the platform's, with any port", async () => {
  const port = await freePort();
  const proxied = await startTestGateway({
    environment: {
      SVC_PLATFORM_URL: "https://Console.Example.com",
      SVC_PLATFORM_PORT: port,
    },
  });
  try {
    const url = `http://127.0.0.1:${port}`;
    for (const host of ["console.example.com", "CONSOLE.example.com:443", `127.0.0.1:${port}`])
      expect((await ask(url, host)).status).toBe(200);
    for (const host of ["example.com", "console.example.com.evil.example"])
      expect((await ask(url, host)).status).toBe(421);
  } finally {
    await proxied.stop();
  }
});

test("listening on all addresses, each address is the platform's, and still no other name", async () => {
  const wide = await startTestGateway({ environment: { SVC_PLATFORM_HOST: "0.0.0.0" } });
  try {
    const url = `http://127.0.0.1:${new URL(wide.platformUrl).port}`;
    for (const host of ["10.0.0.5:8081", "[fd00::5]:8081", "localhost"])
      expect((await ask(url, host)).status).toBe(200);
    expect((await ask(url, "evil.example")).status).toBe(421);
  } finally {
    await wide.stop();
  }
});

/** One that nobody listens on at this moment. */
async function freePort(): Promise<string> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  return String(port);
}
