import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createSecureContext, createServer, type Server } from "node:tls";
import { createCertificate } from "../fake/certificate.ts";
import { createCertificateFolder } from "../processes/tls/certificate-files.ts";
import { linesOf } from "./trusting.ts";

const authority = createCertificate({ name: "authority.example", isAuthority: true });
const one = createCertificate({ name: "one.example", issuer: authority });
const two = createCertificate({ name: "two.example", issuer: authority });

let server: Server;
/** The name that each connection asked for, and the Host headers that came over it. */
const connections: { readonly name: string; readonly hosts: string[] }[] = [];

beforeAll(async () => {
  server = createServer(
    {
      key: one.key,
      cert: one.cert,
      SNICallback: (name, answer) => {
        const { key, cert } = name === "two.example" ? two : one;
        answer(null, createSecureContext({ key, cert }));
      },
    },
    (socket) => {
      const connection = { name: String(socket.servername), hosts: [] as string[] };
      connections.push(connection);
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        connection.hosts.push(/^host: (.*)$/im.exec(bytes.toString())?.[1]?.trim() ?? "");
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void server.close());

/** What the calls of calls.ts print, one line each. */
const linesFrom = (port: number, times: number) =>
  linesOf({ script: "calls.ts", words: [port, times], authority });

test("a pinned address must have the certificate of the name, and lines are not shared among names", async () => {
  const { port } = server.address() as AddressInfo;
  // A connection rests for a few calls before it is used again.
  const lines = await linesFrom(port, 64);
  expect(new Set(lines.slice(0, -1))).toEqual(new Set(["one.example hello", "two.example hello"]));
  expect(lines.at(-1)).toMatch(/^other\.example refused: .*CERT_ALTNAME_INVALID/);
  for (const { name, hosts } of connections)
    expect(hosts.filter((host) => host !== `${name}:${port}`)).toEqual([]);
  for (const name of ["one.example", "two.example"]) {
    const own = connections.filter((one) => one.name === name);
    expect(own.some(({ hosts }) => hosts.length > 1)).toBe(true);
  }
});

test("a server that asks for a second handshake gets the request once, and the call fails", async () => {
  const files = createCertificateFolder(one);
  const { SVC_TLS_KEY: key, SVC_TLS_CERT: cert } = files.environment;
  const script = join(import.meta.dir, "renegotiating.mjs");
  await using child = Bun.spawn(["node", script, key, cert], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const printed = child.stdout.getReader();
  const port = Number(new TextDecoder().decode((await printed.read()).value));
  const lines = await linesFrom(port, 2);
  const failed = "one.example refused: acme: Renegotiated";
  expect(lines.filter((line) => line.startsWith("one.example"))).toEqual([failed, failed]);
  child.kill();
  let requests = "";
  for (let piece = await printed.read(); !piece.done; piece = await printed.read())
    requests += new TextDecoder().decode(piece.value);
  files.remove();
  expect(requests).toBe("GET /v1/models HTTP/1.1\n".repeat(2));
});
