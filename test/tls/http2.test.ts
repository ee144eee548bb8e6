import { expect, test } from "bun:test";
import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createCertificate } from "../fake/certificate.ts";
import { linesOf } from "./trusting.ts";

const authority = createCertificate({ name: "authority.example", isAuthority: true });
const one = createCertificate({ name: "one.example", issuer: authority });
const two = createCertificate({ name: "two.example", issuer: authority });

/** What the calls of http2-calls.ts print, one line each. */
const linesFrom = (port: number, name: string) =>
  linesOf({ script: "http2-calls.ts", words: [port, name], authority });

test("a host that speaks HTTP/2 only is served by the runtime's client", async () => {
  const server = createSecureServer({ key: two.key, cert: two.cert });
  const refusals: unknown[] = [];
  server.on("tlsClientError", (error) => refusals.push("code" in error && error.code));
  const left = Promise.withResolvers<void>();
  const streams: ServerHttp2Stream[] = [];
  server.on("stream", async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on("error", () => {});
    let body = "";
    for await (const bytes of stream) body += String(bytes);
    stream.respond({ ":status": headers[":path"] === "/v1/busy" ? 429 : 200 });
    switch (headers[":path"]) {
      case "/v1/echo":
        return stream.end(`${headers[":method"]} ${headers[":authority"]} ${body}`);
      case "/v1/stream":
        streams.push(stream);
        stream.on("close", () => left.resolve());
        return stream.write("first piece");
      case "/v1/left":
        await left.promise;
        for (const other of streams) if (!other.destroyed) other.end("last piece");
        return stream.end("it was left");
      default:
        return stream.end("{}");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const lines = await linesFrom(port, "two.example");
  server.close();
  const echo = `POST two.example:${port} {"a":1}`;
  expect(lines.toSpliced(2, 2)).toEqual([
    echo,
    echo,
    "first piece",
    "first piece",
    "broken off",
    "it was left",
    "last piece",
  ]);
  // The certificate is looked at over HTTP/2, too.
  expect(lines[2]).toMatch(/^upstream_error: .*CERT_ALTNAME_INVALID/);
  expect(lines[3]).toStartWith("upstream_rate_limited: ");
  // HTTP/1.1 is offered once to each name, not to every call.
  const refused = refusals.filter((code) => code === "ERR_SSL_NO_APPLICATION_PROTOCOL");
  expect(refused).toHaveLength(2);
});

test("a refusal that somebody forged does not keep a host from HTTP/1.1", async () => {
  const server = createTlsServer({ ...one, ALPNProtocols: ["http/1.1"] }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let forged = 0;
  const between = createServer((caller) => {
    caller.on("error", () => {});
    // The alert `no_application_protocol`, which nothing vouches for.
    if (forged++ === 0)
      return void caller.once("data", () => caller.end(Buffer.from([21, 3, 3, 0, 2, 2, 120])));
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: (socket) => void caller.on("data", (bytes) => void socket.write(bytes)),
        data: (_, bytes) => void caller.write(bytes),
        close: () => void caller.end(),
      },
    });
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  const lines = await linesFrom((between.address() as AddressInfo).port, "one.example");
  between.close();
  server.close();
  // The first call fails: the runtime cannot say that nothing of it was sent.
  expect(lines.slice(0, 2)).toEqual(["upstream_error: acme: EPROTO", "hello"]);
});
