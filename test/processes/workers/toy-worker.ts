import {
  type ChannelProcess,
  engineOverChannel,
  openChannel,
} from "../../../src/app/workers/channel.ts";
import { toApiError } from "../../../src/base/errors.ts";
import { CallSignal } from "../../../src/call/signal.ts";
import { Exposition } from "../../../src/telemetry/exposition.ts";

/** A worker that answers with its number and its process. Arguments: number, port. */
const [, , worker = "", port = ""] = process.argv;
let requests = 0;
let left = 0;
const stopping = Promise.withResolvers<void>();
const engine = engineOverChannel(process as ChannelProcess);
/** What a caller of an embedded model would get. */
const askEngine = () =>
  engine.whenReady("chat", new CallSignal()).then(
    () => ({ isReady: true }),
    (error: unknown) => {
      const { code, message, retryAfterMs } = toApiError(error);
      return { code, message, retryAfterMs };
    },
  );
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  reusePort: true,
  async fetch(request) {
    requests++;
    const { pathname } = new URL(request.url);
    if (pathname === "/until-stop") await stopping.promise;
    if (pathname === "/die") process.exit(7);
    if (pathname === "/engine") return Response.json(await askEngine());
    const headers = left > 0 ? { connection: "close" } : undefined;
    if (left > 0) left--;
    return Response.json({ worker: Number(worker), pid: process.pid }, headers && { headers });
  },
});
const channel = openChannel({
  process: process as ChannelProcess,
  metricsText: () =>
    new Exposition()
      .family({ name: "svc_requests_total", type: "counter", help: "Requests." })
      .add("", requests)
      .text(),
  pending: () => server.pendingRequests,
  endConnections: (count) => (left = count),
});
const stop = async () => {
  const closed = server.stop(false);
  stopping.resolve();
  await closed;
  channel.close();
  process.exit(0);
};
process.on("SIGTERM", stop);
process.on("disconnect", stop);
