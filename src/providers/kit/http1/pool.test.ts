import { afterEach, describe, expect, test } from "bun:test";
import { RawServer, startAnswering } from "../../../../test/fake/raw-server.ts";
import { failureOf } from "../../../../test/providers/failure-of.ts";
import { CallSignal } from "../../../call/signal.ts";
import { ConnectionError, type Message } from "./connection.ts";
import { Pool, type Reuse } from "./pool.ts";
import type { SocketReply } from "./socket-reply.ts";

const servers: RawServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

/** A pool in front of a server, at a time that the test moves. */
function poolOf(server: RawServer, reuse?: Reuse) {
  servers.push(server);
  const clock = { nowMs: 1_000_000 };
  const { port } = server;
  const place = { hostname: "127.0.0.1", port, serverName: undefined, unix: undefined };
  return { pool: new Pool(place, { reuse, nowMs: () => clock.nowMs }), clock, server };
}

function message({ body, signal }: { body?: string; signal?: CallSignal } = {}): Message {
  const method = body === undefined ? "GET" : "POST";
  const head = `${method} / HTTP/1.1\r\nhost: acme.example\r\n`;
  return { head, body, signal: signal ?? new CallSignal() };
}

const ask = async (pool: Pool, options: Parameters<typeof message>[0] = {}) => {
  const reply = await pool.send(message(options));
  return (await reply.whole(1_000_000)).text;
};

const reply = (body: string, ...lines: readonly string[]) =>
  ["HTTP/1.1 200 OK", `content-length: ${body.length}`, ...lines, "", body].join("\r\n");

describe("a connection is used again", () => {
  for (const [name, whole] of [
    ["a length", reply("hello")],
    ["chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"],
    ["a length, in HTTP/1.0", reply("hello", "connection: keep-alive").replace("1.1", "1.0")],
  ] as const)
    test(`after a reply with ${name}`, async () => {
      const { pool, server } = poolOf(startAnswering(whole));
      for (let turn = 0; turn < 3; turn++) expect(await ask(pool)).toBe("hello");
      expect(server.connections).toHaveLength(1);
    });

  test("after a reply without a body", async () => {
    const { pool, server } = poolOf(startAnswering("HTTP/1.1 204 No Content\r\n\r\n"));
    for (let turn = 0; turn < 3; turn++) expect(await ask(pool)).toBe("");
    expect(server.connections).toHaveLength(1);
  });

  test("by one request at a time: calls at once have connections of their own", async () => {
    const { pool, server } = poolOf(startAnswering(({ number }) => reply(`from ${number}`)));
    const said = await Promise.all([ask(pool), ask(pool), ask(pool)]);
    expect(said.toSorted()).toEqual(["from 1", "from 2", "from 3"]);
    await Promise.all([ask(pool), ask(pool)]);
    expect(server.connections).toHaveLength(3);
  });

  test("the latest first, so that the others grow old", async () => {
    const { pool } = poolOf(startAnswering(({ number }) => reply(`from ${number}`)));
    const [first, second] = await Promise.all([pool.send(message()), pool.send(message())]);
    await first.whole(100);
    const latest = (await second.whole(100)).text;
    for (let turn = 0; turn < 3; turn++) expect(await ask(pool)).toBe(latest);
  });
});

describe("a connection is closed and not used again", () => {
  const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n";
  for (const [name, whole] of [
    ["that the server wants closed", reply("hello", "connection: close")],
    ["of HTTP/1.0", reply("hello").replace("1.1", "1.0")],
    ["with extra bytes behind the body", `${reply("hello")}!`],
    ["with another reply behind the body", reply("hello") + reply("evil")],
    ["with extra bytes behind the chunks", `${chunked}\r\n5\r\nhello\r\n0\r\n\r\n!`],
    [
      "with a length beside the chunks",
      `${chunked}content-length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ],
  ] as const)
    test(name, async () => {
      const { pool, server } = poolOf(startAnswering(whole));
      expect(await ask(pool)).toBe("hello");
      expect(await ask(pool)).toBe("hello");
      expect(server.connections).toHaveLength(2);
      await Promise.all(server.connections.map(({ closed }) => closed));
    });

  test("whose reply came while the request was still being written", async () => {
    const server = new RawServer({
      onOpen(connection) {
        connection.socket.pause();
        connection.send(reply("too large"));
      },
    });
    const { pool } = poolOf(server);
    const body = "x".repeat(20_000_000);
    expect(await ask(pool, { body })).toBe("too large");
    expect(await ask(pool, { body })).toBe("too large");
    expect(server.connections).toHaveLength(2);
  });

  test("whose reply began while the request was still being written, though both ended", async () => {
    const head = "HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\n";
    let round = 0;
    const server = new RawServer({
      onOpen(connection) {
        connection.socket.pause();
        connection.send(head);
      },
      // Of a request on a connection that has served another.
      onData(connection) {
        if (connection.number < round) connection.send(`${head}large`);
      },
    });
    const { pool } = poolOf(server);
    const body = "x".repeat(20_000_000);
    for (const count of [1, 2]) {
      round = count;
      const early = await pool.send(message({ body }));
      const connection = server.connections.at(-1);
      connection?.socket.resume();
      while ((connection?.received.length ?? 0) < body.length) await new Promise(setImmediate);
      connection?.send("large");
      expect((await early.whole(100)).text).toBe("large");
      expect(server.connections).toHaveLength(count);
    }
  });

  test("whose caller left, in the middle of a reply", async () => {
    const { pool, server } = poolOf(
      startAnswering(({ number }) => (number === 1 ? reply("hello").slice(0, -1) : reply("again"))),
    );
    const signal = new CallSignal();
    const { read } = await pool
      .send(message({ signal }))
      .then((reply) => ({ read: () => reply.read() }));
    await read();
    signal.abort(new Error("the caller left"));
    expect(await failureOf(read())).toBeInstanceOf(ConnectionError);
    await server.connections[0]?.closed;
    expect(await ask(pool)).toBe("again");
  });

  test("whose reply was canceled", async () => {
    const { pool, server } = poolOf(
      startAnswering(({ number }) => (number === 1 ? reply("hello").slice(0, -1) : reply("again"))),
    );
    const left = await pool.send(message());
    left.cancel();
    expect(await left.read()).toBeUndefined();
    await server.connections[0]?.closed;
    expect(await ask(pool)).toBe("again");
  });

  test("whose signal is aborted after the reply is kept all the same", async () => {
    const { pool, server } = poolOf(startAnswering(reply("hello")));
    const signal = new CallSignal();
    expect(await ask(pool, { signal })).toBe("hello");
    signal.abort(new Error("too late"));
    expect(await ask(pool)).toBe("hello");
    expect(server.connections).toHaveLength(1);
  });
});

describe("a second reply to a request", () => {
  const numbered = () => startAnswering(({ number }) => reply(`from ${number}`));

  test("closes the connection, and further requests have one each for ten minutes", async () => {
    const { pool, server, clock } = poolOf(numbered());
    const [first] = await Promise.all([ask(pool), ask(pool)]);
    expect(first).toBe("from 1");
    server.connections[0]?.send(reply("evil"));
    await Promise.all(server.connections.map(({ closed }) => closed));
    expect([await ask(pool), await ask(pool)]).toEqual(["from 3", "from 4"]);
    clock.nowMs += 600_000;
    expect([await ask(pool), await ask(pool)]).toEqual(["from 5", "from 5"]);
  });

  test("that comes a second later closes only its connection: it is a timeout", async () => {
    const { pool, server, clock } = poolOf(numbered());
    await Promise.all([ask(pool), ask(pool)]);
    clock.nowMs += 1_001;
    server.connections[1]?.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
    await server.connections[1]?.closed;
    expect([await ask(pool), await ask(pool)]).toEqual(["from 1", "from 1"]);
  });

  test("is seen while a connection rests, which is for a whole tick at least", async () => {
    const { pool, server } = poolOf(numbered(), "rested");
    expect([await ask(pool), await ask(pool)]).toEqual(["from 1", "from 2"]);
    expect(pool.tickRest()).toBe(true);
    expect(await ask(pool)).toBe("from 3");
    expect(pool.tickRest()).toBe(true);
    expect(await ask(pool)).toBe("from 2");
    server.connections[2]?.send(reply("evil"));
    await server.connections[2]?.closed;
    expect([await ask(pool), await ask(pool)]).toEqual(["from 4", "from 5"]);
  });

  test("is looked for in a turn of the event loop at least, where many connections rest", async () => {
    const { pool, server } = poolOf(numbered(), "rested");
    for (let wave = 1; wave <= 3; wave++) {
      await Promise.all(Array.from({ length: 128 }, () => ask(pool)));
      await new Promise(setImmediate);
    }
    // Without the early ends of rests, each wave has connections of its own.
    expect(server.connections.length).toBeLessThan(384);
  });

  test("answers nothing where connections are never used again", async () => {
    const { pool, server } = poolOf(numbered(), "never");
    for (let turn = 1; turn <= 3; turn++) expect(await ask(pool)).toBe(`from ${turn}`);
    await Promise.all(server.connections.map(({ closed }) => closed));
  });
});

test("a large reply that waits to be read does not keep the next one from coming", async () => {
  // One byte more than may wait: the connection is paused by the packet that ends the reply.
  const body = "x".repeat(256 * 1024 + 1);
  const { pool, server } = poolOf(startAnswering(reply(body)));
  const waiting: SocketReply[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const next = await pool.send(message());
    while (!next.isEnded) await new Promise(setImmediate);
    waiting.push(next);
  }
  for (const one of waiting) expect(await one.whole(1_000_000)).toHaveLength(body.length);
  expect(server.connections).toHaveLength(1);
});

describe("a connection that the server has closed", () => {
  test("while it was idle is left for a new one", async () => {
    const { pool, server } = poolOf(startAnswering(({ number }) => reply(`from ${number}`)));
    expect(await ask(pool)).toBe("from 1");
    const [first] = server.connections;
    first?.socket.shutdown();
    await first?.closed;
    expect(await ask(pool, {})).toBe("from 2");
  });

  /** Answers the first request of the first connection, and hangs up on its second one. */
  const hangingUp = () => {
    const requests: string[] = [];
    const server = new RawServer({
      onData(connection) {
        const { number } = connection;
        requests.push(`${connection.received.split(" ")[0]} on ${number}`);
        connection.received = "";
        if (requests.length === 2) connection.socket.end();
        else connection.send(reply(`from ${number}`));
      },
    });
    return { ...poolOf(server), requests };
  };

  test("before it answered a GET: the request goes out once more", async () => {
    const { pool, requests } = hangingUp();
    expect(await ask(pool)).toBe("from 1");
    expect(await ask(pool)).toBe("from 2");
    expect(requests).toEqual(["GET on 1", "GET on 1", "GET on 2"]);
  });

  test("before it answered a POST: the request is not sent twice", async () => {
    const { pool, requests } = hangingUp();
    expect(await ask(pool, { body: "{}" })).toBe("from 1");
    expect(await failureOf(ask(pool, { body: "{}" }))).toBeInstanceOf(ConnectionError);
    expect(requests).toEqual(["POST on 1", "POST on 1"]);
    expect(await ask(pool, { body: "{}" })).toBe("from 2");
  });

  test("and that is new is not tried again, not even for a GET", async () => {
    const server = new RawServer({ onData: ({ socket }) => socket.end() });
    const { pool } = poolOf(server);
    expect(await failureOf(ask(pool))).toBeInstanceOf(ConnectionError);
    expect(server.connections).toHaveLength(1);
  });

  for (const [name, body] of [
    ["a short POST", "{}"],
    ["a long POST", "x".repeat(300_000)],
  ] as const)
    test(`before any of ${name} was written: it goes out on a new one`, async () => {
      const server = new RawServer({
        onData(connection) {
          const { received } = connection;
          const start = received.indexOf("\r\n\r\n") + 4;
          const length = Number(/content-length: (\d+)/.exec(received)?.[1]);
          if (received.length === start + length)
            connection.send(reply(`from ${connection.number}`));
        },
      });
      const { pool } = poolOf(server);
      expect(await ask(pool, { body })).toBe("from 1");
      // In one turn of the event loop: the kernel knows of the reset, and the pool does not.
      server.connections[0]?.socket.terminate();
      expect(await ask(pool, { body })).toBe("from 2");
    });

  test("is not replaced for a caller who has left", async () => {
    const signal = new CallSignal();
    const server = startAnswering((connection) => {
      if (server.connections.length === 1 && connection.received.split("GET").length === 3)
        signal.abort(new Error("the caller left"));
      return reply("hello");
    });
    const { pool } = poolOf(server);
    await ask(pool);
    expect(await failureOf(ask(pool, { signal }))).toBeInstanceOf(ConnectionError);
    expect(server.connections).toHaveLength(1);
  });
});

describe("an idle connection is closed", () => {
  const usedAgainAfter = async (
    idleMs: number,
    { pool, clock, server }: ReturnType<typeof poolOf>,
  ) => {
    await ask(pool);
    const before = server.connections.length;
    clock.nowMs += idleMs;
    await ask(pool);
    return server.connections.length === before;
  };

  test("after a minute, if the server says nothing of it", async () => {
    const scene = poolOf(startAnswering(reply("hello")));
    expect(await usedAgainAfter(59_999, scene)).toBe(true);
    expect(await usedAgainAfter(60_000, scene)).toBe(false);
    await scene.server.connections[0]?.closed;
  });

  test.each([
    ["well before the time that the server names", 5, 3_749, true],
    ["from then on", 5, 3_750, false],
    ["even if the server names a second", 1, 749, true],
    ["and then", 1, 750, false],
    ["sooner than a minute, if the server names an hour", 3_600, 60_000, false],
  ])("%s: %i s", async (_, timeoutS, idleMs, isUsed) => {
    const scene = poolOf(startAnswering(reply("hello", `keep-alive: timeout=${timeoutS}`)));
    expect(await usedAgainAfter(idleMs, scene)).toBe(isUsed);
  });

  /** The server closes the connection that is idle now. */
  const closed = async ({ pool, clock, server }: ReturnType<typeof poolOf>, afterMs: number) => {
    await ask(pool);
    clock.nowMs += afterMs;
    const { connections } = server;
    connections.at(-1)?.socket.shutdown();
    await connections.at(-1)?.closed;
  };

  test("sooner than the server was seen to do", async () => {
    const scene = poolOf(startAnswering(reply("hello")));
    await closed(scene, 20_000);
    expect(await usedAgainAfter(14_999, scene)).toBe(true);
    expect(await usedAgainAfter(15_000, scene)).toBe(false);
  });

  test("not for good by the measure of a server that restarted", async () => {
    const scene = poolOf(startAnswering(reply("hello")));
    await closed(scene, 0);
    expect(await usedAgainAfter(999, scene)).toBe(true);
    expect(await usedAgainAfter(1_000, scene)).toBe(false);
    scene.clock.nowMs += 600_000;
    expect(await usedAgainAfter(59_999, scene)).toBe(true);
  });

  test("by the timer too, the oldest first, and the others stay", async () => {
    const { pool, clock, server } = poolOf(startAnswering(reply("hello")));
    const [first, second] = await Promise.all([pool.send(message()), pool.send(message())]);
    await first.whole(100);
    clock.nowMs += 30_000;
    expect(await ask(pool)).toBe("hello");
    await second.whole(100);
    expect(pool.sweep()).toBe(true);
    clock.nowMs += 30_000;
    expect(pool.sweep()).toBe(true);
    await Promise.race(server.connections.map(({ closed }) => closed));
    clock.nowMs += 30_000;
    expect(pool.sweep()).toBe(false);
    await Promise.all(server.connections.map(({ closed }) => closed));
  });
});
