import { afterEach, expect, test } from "bun:test";
import type { Socket, TCPSocketListener } from "bun";
import type { LoadJob } from "./job.ts";
import { runLoad } from "./load.ts";
import { chatReply, streamChunk, streamEnd, streamStart, upstreamModel } from "./traffic.ts";

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
  requests: 100,
  chunks: 2,
  timeoutMs: 5_000,
};

test("counts every reply of a healthy server", async () => {
  const port = serve((socket) => void socket.write(chatReply));
  const result = await runLoad({ ...job, port });
  expect(result).toMatchObject({ replies: 100, failures: 0 });
  expect(result.p50Us).toBeGreaterThan(0);
  expect(result.p99Us).toBeGreaterThanOrEqual(result.p50Us);
});

test("counts the chunks of streams as they come", async () => {
  const port = serve((socket) => {
    socket.write(streamStart);
    setImmediate(() => void socket.write(Buffer.concat([streamChunk, streamEnd])));
  });
  const result = await runLoad({ ...job, port, kind: "stream" });
  expect(result).toMatchObject({ replies: 100, failures: 0 });
  expect(result.contentReads).toBeGreaterThanOrEqual(100);
});

test("one wrong reply among many is a failure", async () => {
  const wrong = Buffer.from("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n");
  const port = serve((socket, request) => void socket.write(request === 50 ? wrong : chatReply));
  const result = await runLoad({ ...job, port });
  expect(result).toMatchObject({ replies: 99, failures: 1 });
  expect(result.firstFailure).toContain("status is not 200");
});

test("a connection that closes inside a stream is a failure", async () => {
  const port = serve((socket) => void socket.end(streamStart));
  const result = await runLoad({ ...job, port, kind: "stream" });
  expect(result).toMatchObject({ replies: 0, failures: 4, firstFailure: "connection closed" });
});

test("a server that never answers ends the job at its deadline", async () => {
  const port = serve(() => {});
  const result = await runLoad({ ...job, port, timeoutMs: 50 });
  expect(result).toMatchObject({ replies: 0, failures: 1, firstFailure: "not done after 50 ms" });
});

test("a port where nobody listens is a failure", async () => {
  const port = serve(() => {});
  server?.stop(true);
  const result = await runLoad({ ...job, port });
  expect(result.failures).toBeGreaterThan(0);
  expect(result.firstFailure).toContain("cannot connect");
});

test("without a count, sends until the time is over", async () => {
  const port = serve((socket) => void socket.write(chatReply));
  const result = await runLoad({ ...job, port, requests: 1_000_000, durationMs: 20 });
  expect(result.failures).toBe(0);
  expect(result.replies).toBeGreaterThan(0);
  expect(result.replies).toBeLessThan(1_000_000);
});

test("a connection that a server closes after its reply is opened again", async () => {
  const closing = Buffer.from(
    chatReply.toString("latin1").replace("\r\n", "\r\nConnection: close\r\n"),
    "latin1",
  );
  const port = serve((socket) => void socket.end(closing));
  const result = await runLoad({ ...job, port });
  expect(result).toMatchObject({ replies: 100, failures: 0 });
});

test("a refusal is a failure in a closed loop", async () => {
  const busy = Buffer.from("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  const port = serve((socket, request) => void socket.write(request === 50 ? busy : chatReply));
  const result = await runLoad({ ...job, port });
  expect(result).toMatchObject({ replies: 99, failures: 1 });
  expect(result.firstFailure).toContain("503");
});
