import { connect, createServer, type Socket } from "node:net";

/**
 * Stands between clients and PostgreSQL as a network does. A connection that it has forgotten stays
 * open, and nothing passes in either direction any more.
 */
export interface ForgettingProxy {
  readonly url: string;
  /** Connections that are open now; new ones pass. */
  forget(): void;
  /** The next connection on which a client sends this text, before the server gets it. */
  forgetOn(text: string): void;
  /** The same, but the server does what it was asked to: only its reply is lost. */
  forgetAnswerTo(text: string): void;
  /** All connections, also new ones, until it passes again; what waits meanwhile is delivered then. */
  stall(): void;
  pass(): void;
  /** What the server sends on connections that are open now arrives byte by byte. */
  trickle(everyMs: number): void;
  /** Clients that are connected now get this, as if the server had sent it. */
  send(bytes: Uint8Array): void;
  /** New connections go to another server, as after a failover. */
  retarget(databaseUrl: string): void;
  /** How many connections were forgotten. */
  readonly forgotten: number;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  isForgotten: boolean;
  /** Bytes that trickle; undefined where they pass. */
  trickling?: number[];
}

export async function startForgettingProxy(
  databaseUrl: string,
  port = 0,
): Promise<ForgettingProxy> {
  let target = new URL(databaseUrl);
  const links = new Set<Link>();
  let wanted: { readonly text: string; readonly isDone: boolean } | undefined;
  let isStalled = false;
  let forgotten = 0;
  const forget = (link: Link) => {
    if (link.isForgotten) return;
    link.isForgotten = true;
    forgotten++;
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const link: Link = { client, upstream, isForgotten: false };
    links.add(link);
    if (isStalled) for (const socket of [client, upstream]) socket.pause();
    client.on("data", (bytes) => {
      if (link.isForgotten) return;
      if (wanted !== undefined && bytes.includes(wanted.text)) {
        if (wanted.isDone) upstream.write(bytes);
        wanted = undefined;
        return forget(link);
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (link.trickling !== undefined) link.trickling.push(...Buffer.from(bytes));
      else if (!link.isForgotten) client.write(bytes);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on("error", () => {});
      socket.on("close", () => {
        if (link.isForgotten && socket === upstream) return;
        links.delete(link);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  const url = new URL(databaseUrl);
  url.port = String(typeof address === "object" && address !== null ? address.port : 0);
  url.searchParams.set("sslmode", "disable");
  const each = (act: (socket: Socket) => void) => {
    for (const { client, upstream } of links) for (const socket of [client, upstream]) act(socket);
  };
  return {
    url: url.toString(),
    forget() {
      for (const link of links) forget(link);
    },
    forgetOn(text) {
      wanted = { text, isDone: false };
    },
    forgetAnswerTo(text) {
      wanted = { text, isDone: true };
    },
    stall() {
      isStalled = true;
      each((socket) => socket.pause());
    },
    pass() {
      isStalled = false;
      each((socket) => socket.resume());
    },
    trickle(everyMs) {
      for (const link of links) {
        const bytes: number[] = [];
        link.trickling = bytes;
        const timer = setInterval(() => {
          const byte = bytes.shift();
          if (byte !== undefined) link.client.write(Uint8Array.of(byte));
        }, everyMs);
        link.client.once("close", () => clearInterval(timer));
      }
    },
    send(bytes) {
      for (const { client } of links) client.write(bytes);
    },
    retarget(databaseUrl) {
      target = new URL(databaseUrl);
    },
    get forgotten() {
      return forgotten;
    },
    close() {
      each((socket) => socket.destroy());
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
