import { afterEach, expect, test } from "bun:test";
import type { Socket, TCPSocketListener } from "bun";
import type { LoadJob } from "./job.ts";
import { runLoad } from "./load.ts";
import { chatReply, upstreamModel } from "./traffic.ts";

let server: TCPSocketListener<undefined> | undefined;
afterEach(() => server?.stop(true));

function serve(answer: (socket: Socket<undefined>, request: number) => void): number {
  let requests = 0;
  server = Bun.listen<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => answer(socket, ++requests) },
  });
  return server.port;
}

const job: Omit<LoadJob, "port"> = {
  kind: "chat",
  model: upstreamModel,
  keys: ["a", "b"],
  connections: 4,
  requests: 50,
  chunks: 0,
  rate: 5_000,
  keepsTimes: true,
  timeoutMs: 5_000,
};
const busy = Buffer.from("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");

test("sends every request of the schedule", async () => {
  const port = serve((socket) => void socket.write(chatReply));
  const result = await runLoad({ ...job, port });
  expect(result).toMatchObject({ replies: 50, failures: 0, refused: 0, dropped: 0 });
  expect(result.timesUs?.length).toBe(50);
});

test("requests without a free connection wait, and their wait counts", async () => {
  const held: Socket<undefined>[] = [];
  const port = serve((socket, request) => {
    held.push(socket);
    // The first connections have no reply until all of them are taken.
    if (request === 4) for (const one of held.splice(0)) one.write(chatReply);
    if (request > 4) socket.write(chatReply);
  });
  const result = await runLoad({ ...job, port });
  expect(result).toMatchObject({ replies: 50, failures: 0, dropped: 0 });
});

test("requests beyond the queue are dropped and counted", async () => {
  const port = serve(() => {});
  const options = { connections: 2, maxQueued: 1, requests: 20, rate: 1_000_000, timeoutMs: 50 };
  const result = await runLoad({ ...job, port, ...options });
  expect(result).toMatchObject({ replies: 0, dropped: 17, firstFailure: "not done after 50 ms" });
});

test("refusals are counted where load may be too high, and connections are opened again", async () => {
  const port = serve((socket, request) => {
    if (request % 2 === 0) socket.end(busy);
    else socket.write(chatReply);
  });
  const result = await runLoad({ ...job, port, isTolerant: true });
  expect(result).toMatchObject({ failures: 0, dropped: 0 });
  expect(result.replies + result.refused).toBe(50);
  expect(result.refused).toBeGreaterThan(10);
});

test("a refusal is a failure elsewhere", async () => {
  const port = serve((socket) => void socket.end(busy));
  const result = await runLoad({ ...job, port });
  expect(result.replies).toBe(0);
  expect(result.failures).toBeGreaterThan(0);
});
