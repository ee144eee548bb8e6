import { connect, createServer, type Socket } from "node:net";

/** Stands between a client and PostgreSQL, and breaks the connection when it commits. */
export interface CuttingProxy {
  readonly url: string;
  /** The next COMMIT: lost on the way, or done and not answered. */
  cutNext(what: "commit" | "answer"): void;
  close(): Promise<void>;
}

export async function startCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(databaseUrl);
  let cut: "commit" | "answer" | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    let isSilent = false;
    client.on("close", end);
    upstream.on("close", end);
    client.on("data", (bytes) => {
      const isCut = cut !== undefined && bytes.includes("commit\0");
      if (isCut && cut === "commit") {
        cut = undefined;
        return end();
      }
      if (isCut) {
        cut = undefined;
        isSilent = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => (isSilent ? end() : void client.write(bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const own = typeof address === "object" && address !== null ? address.port : 0;
  const url = new URL(databaseUrl);
  url.port = String(own);
  url.searchParams.set("sslmode", "disable");
  return {
    url: url.toString(),
    cutNext(what) {
      cut = what;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
