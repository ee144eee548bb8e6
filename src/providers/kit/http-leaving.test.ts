import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { type DeafListener, startDeafListener } from "../../../test/chaos/deaf-listener.ts";
import { createCertificate } from "../../../test/fake/certificate.ts";
import { RawServer } from "../../../test/fake/raw-server.ts";
import { failureOf } from "../../../test/providers/failure-of.ts";
import { CallSignal } from "../../call/signal.ts";
import { Dialer } from "./dial.ts";
import { baseHeaders, send } from "./http.ts";

let deaf: DeafListener;
const servers: RawServer[] = [];
beforeAll(async () => {
  deaf = await startDeafListener();
});
afterAll(() => deaf.stop());
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

function started(server: RawServer): RawServer {
  servers.push(server);
  return server;
}

const dialer = new Dialer({
  provider: "acme",
  allowPrivate: true,
  lookup: async () => ["127.0.0.1"],
});

function post(address: string, { signal = new CallSignal(), socket = "" } = {}) {
  const pin = dialer.pin(address);
  return send({
    provider: "acme",
    pin,
    path: "/v1/x",
    headers: baseHeaders(pin),
    body: '{"secret":true}',
    signal,
    ...(socket === "" ? {} : { socket }),
  });
}

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n";
const reason = new Error("the caller left");

describe("a caller who leaves hears the reason, and the connection is closed", () => {
  test("while the connection opens", async () => {
    const signal = new CallSignal();
    const failing = failureOf(post(`http://127.0.0.1:${deaf.port}`, { signal }));
    signal.abort(reason);
    expect(await failing).toBe(reason);
  });

  test("before the connection is known to be open", async () => {
    const server = started(new RawServer());
    const signal = new CallSignal();
    const opening = server.nextConnection();
    const failing = failureOf(post(`http://127.0.0.1:${server.port}`, { signal }));
    signal.abort(reason);
    expect(await failing).toBe(reason);
    const connection = await opening;
    await connection.closed;
    expect(connection.received).toBe("");
  });

  test("while the server is slow to show its certificate", async () => {
    const signal = new CallSignal();
    // Its greeting has arrived: the handshake is under way.
    const server = started(new RawServer({ onData: () => signal.abort(reason) }));
    const opening = server.nextConnection();
    const failing = failureOf(post(`https://api.acme.example:${server.port}`, { signal }));
    expect(await failing).toBe(reason);
    const connection = await opening;
    await connection.closed;
    expect(connection.received).not.toContain("secret");
  });

  test("in the middle of the head", async () => {
    const signal = new CallSignal();
    const server = started(
      new RawServer({
        onData(connection) {
          connection.send(ok.slice(0, -3));
          setImmediate(() => signal.abort(reason));
        },
      }),
    );
    expect(await failureOf(post(`http://127.0.0.1:${server.port}`, { signal }))).toBe(reason);
    await server.connections[0]?.closed;
  });
});

describe("a certificate that is not trusted", () => {
  let server: Server;
  let address: string;
  let received = "";
  beforeAll(async () => {
    const { key, cert } = createCertificate({ name: "api.acme.example" });
    server = createServer({ key, cert }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        received += bytes.toString();
        socket.write(`${ok}hello`);
      });
    });
    server.on("tlsClientError", () => {});
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", resolve);
    await listening;
    const place = server.address();
    address = `https://api.acme.example:${typeof place === "object" ? place?.port : ""}`;
  });
  afterAll(() => void server.close());

  test("is named in the failure, and nothing is sent to its server", async () => {
    const failure = await failureOf(post(address));
    expect(failure).toMatchObject({ code: "upstream_error", upstream: { reason: "unreachable" } });
    expect(failure).toHaveProperty("detail", "acme: DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(received).toBe("");
  });

  test("is not what a server without any has: its failure is told as well", async () => {
    const plain = started(new RawServer({ onData: ({ socket }) => void socket.end(`${ok}hello`) }));
    const failure = await failureOf(post(`https://api.acme.example:${plain.port}`));
    expect(failure).toMatchObject({ code: "upstream_error", upstream: { reason: "unreachable" } });
    expect(plain.connections[0]?.received).not.toContain("secret");
  });
});

describe("a unix socket", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-unix-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is called in place of the address, and its connection is used again", async () => {
    const socket = join(folder, "engine.sock");
    let opened = 0;
    const server = Bun.listen({
      unix: socket,
      socket: {
        open: () => void opened++,
        data: (connection) => void connection.write(`${ok}hello`),
      },
    });
    for (let turn = 0; turn < 3; turn++) {
      const reply = await post("http://engine.invalid", { socket });
      expect((await reply.whole(10)).text).toBe("hello");
    }
    expect(opened).toBe(1);
    server.stop(true);
  });

  test("that nobody listens on is unreachable", async () => {
    const failure = await failureOf(
      post("http://engine.invalid", { socket: join(folder, "nobody.sock") }),
    );
    expect(failure).toMatchObject({ code: "upstream_error", upstream: { reason: "unreachable" } });
  });
});
