import { CallSignal } from "../../../src/call/signal.ts";
import { Pool, type Reuse } from "../../../src/providers/kit/http1/pool.ts";
import { RawServer } from "../../fake/raw-server.ts";

interface StraysResult {
  readonly reuse: Reuse;
  readonly calls: number;
  readonly connections: number;
  /** Second replies that were sent. */
  readonly sent: number;
  /** Calls that got a reply to another one. */
  readonly wrong: number;
}

export interface StrayTrials {
  readonly trials: readonly StraysResult[];
  readonly problems: readonly string[];
}

interface StrayOptions {
  readonly reuse: Reuse;
  /** Each with a pool of its own, which knows nothing of the server. */
  readonly rounds: number;
  readonly callsPerRound: number;
  /** One reply in so many comes twice. */
  readonly everyNth: number;
  /** Second replies come up to this much later. */
  readonly lateMs: number;
}

/** Those that must never deliver a reply to another request. */
export async function runStrayTrials(): Promise<StrayTrials> {
  const options = { rounds: 20, callsPerRound: 1_000, everyNth: 400, lateMs: 10 };
  const trials = [
    await runStrays({ ...options, reuse: "rested" }),
    await runStrays({ ...options, reuse: "never" }),
  ];
  const problems = trials
    .filter(({ wrong }) => wrong > 0)
    .map(({ reuse, wrong, calls }) => `${wrong} of ${calls} calls got a wrong reply (${reuse})`);
  return { trials, problems };
}

const atOnce = 8;
const replyMs = 3;

/** Calls an upstream that sends some replies twice, the second one late. */
async function runStrays(options: StrayOptions): Promise<StraysResult> {
  const { reuse, rounds, callsPerRound, everyNth, lateMs } = options;
  let replies = 0;
  let sent = 0;
  const server = new RawServer({
    onData(connection) {
      const { received, socket } = connection;
      const name = /^GET \/([\d-]+) /.exec(received)?.[1] ?? "";
      connection.received = "";
      const reply = `HTTP/1.1 200 OK\r\ncontent-length: ${name.length}\r\n\r\n${name}`;
      const isTwice = ++replies % everyNth === 0;
      setTimeout(() => {
        socket.write(reply);
        if (!isTwice) return;
        setTimeout(() => {
          if (socket.write(reply) === reply.length) sent++;
        }, Math.random() * lateMs);
      }, Math.random() * replyMs);
    },
  });
  const { port } = server;
  const place = { hostname: "127.0.0.1", port, serverName: undefined, unix: undefined };
  let wrong = 0;
  const worker = async (pool: Pool, names: Iterable<string>) => {
    for (const name of names) {
      const head = `GET /${name} HTTP/1.1\r\nhost: acme.example\r\n`;
      const reply = await pool.send({ head, body: undefined, signal: new CallSignal() });
      if ((await reply.whole(100)).text !== name) wrong++;
    }
  };
  for (let round = 0; round < rounds; round++) {
    const pool = new Pool(place, { reuse });
    const names = Array.from({ length: callsPerRound }, (_, at) => `${round}-${at}`).values();
    // The workers share one iterator: each takes the next name that is left.
    await Promise.all(Array.from({ length: atOnce }, () => worker(pool, names)));
  }
  const connections = server.connections.length;
  server.stop();
  return { reuse, calls: rounds * callsPerRound, connections, sent, wrong };
}
