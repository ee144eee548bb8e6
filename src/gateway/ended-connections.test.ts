import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { EndedConnections } from "./ended-connections.ts";

/** Whether the server closes a connection after each of these replies. */
async function closes(kinds: readonly ("plain" | "promise" | "stream")[], count: number) {
  const connections = new EndedConnections();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/plain") return connections.endSome(new Response("whole"));
      const pieces = new ReadableStream({
        start(controller) {
          controller.enqueue("in ");
          setTimeout(() => {
            controller.enqueue("pieces");
            controller.close();
          }, 1);
        },
      });
      const response = new Response(pathname === "/stream" ? pieces : "whole");
      return connections.endSome(Promise.resolve(response));
    },
  });
  connections.expect(count);
  const found: boolean[] = [];
  for (const kind of kinds) {
    const socket = connect(server.port ?? 0, "127.0.0.1");
    const ended = once(socket, "end");
    let text = "";
    socket.on("data", (bytes) => (text += bytes.toString()));
    socket.write(`GET /${kind} HTTP/1.1\r\nHost: x\r\n\r\n`);
    while (!/whole$|\r\n0\r\n\r\n$/.test(text)) await once(socket, "data");
    const isClosing = /^connection: close\r$/im.test(text);
    if (isClosing) await ended;
    socket.destroy();
    found.push(isClosing);
  }
  await server.stop(true);
  return found;
}

test("as many replies as asked for end their connections, whole or streamed", async () => {
  expect(await closes(["plain", "stream", "promise", "plain", "stream"], 3)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test("no reply ends its connection while nothing is asked for", async () => {
  expect(await closes(["plain", "promise", "stream"], 0)).toEqual([false, false, false]);
});
