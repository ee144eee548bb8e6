import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { RawServer } from "../fake/raw-server.ts";

const servers: RawServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

/** Answers when it is ready to, and never closes. */
function startServer(): RawServer {
  const server = new RawServer({
    onData(connection) {
      setTimeout(() => connection.send("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"), 50);
    },
  });
  servers.push(server);
  return server;
}

/** Runs in a process of its own, with a pool and a way to ask. */
async function run(port: number, script: string): Promise<string> {
  const from = (name: string) => JSON.stringify(join(import.meta.dir, name));
  const source = `
    import { Pool } from ${from("../../src/providers/kit/http1/pool.ts")};
    import { CallSignal } from ${from("../../src/call/signal.ts")};
    const place = { hostname: "127.0.0.1", port: ${port}, serverName: undefined, unix: undefined };
    const pool = new Pool(place);
    const ask = async (body) => {
      const head = (body === undefined ? "GET" : "POST") + " / HTTP/1.1\\r\\n";
      const reply = await pool.send({ head, body, signal: new CallSignal() });
      console.log((await reply.whole(100)).text);
    };
    ${script}`;
  const child = Bun.spawn([process.execPath, "-e", source], { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return said;
}

test("a process ends by itself although a connection is idle, and not while one is busy", async () => {
  const server = startServer();
  // Nobody waits for the calls, except the connections themselves.
  const said = await run(server.port, "ask().then(() => ask('{}')).then(() => ask());");
  expect(said).toBe("hello\nhello\nhello\n");
  expect(server.connections).toHaveLength(1);
});

test("a process ends by itself after its calls have failed", async () => {
  const server = startServer();
  const said = await run(
    server.port,
    `const signal = new CallSignal();
     const sent = pool.send({ head: "GET / HTTP/1.1\\r\\n", body: undefined, signal });
     setTimeout(() => signal.abort(), 10);
     sent.catch((error) => console.log(error.code));`,
  );
  expect(said).toBe("Aborted\n");
});
