import { createServer, type Server, type Socket } from "node:net";

/** An upstream that keeps nothing of what it is sent, and answers with bytes that were prepared. */
export interface ScriptedUpstream {
  /** Ends in /v1. */
  readonly baseUrl: string;
  replyWith(reply: (path: string) => readonly Uint8Array[]): void;
  stop(): Promise<void>;
}

export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  let reply: (path: string) => readonly Uint8Array[] = () => [];
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    read(socket, (path) => {
      const pieces = reply(path);
      for (const bytes of pieces) socket.write(bytes);
      if (endsWithConnection(pieces[0])) socket.end();
    });
  });
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    replyWith(next) {
      reply = next;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const headEnd = "\r\n\r\n";

/** The gateway sends the length of every body. */
function read(socket: Socket, onRequest: (path: string) => void): void {
  let head = "";
  let bytesLeft: number | undefined;
  socket.on("data", (bytes: Buffer) => {
    if (bytesLeft === undefined) {
      const before = head.length;
      head += bytes.toString("latin1");
      const at = head.indexOf(headEnd);
      if (at === -1) return;
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      bytesLeft = length - (bytes.length - (at + headEnd.length - before));
    } else bytesLeft -= bytes.length;
    if (bytesLeft > 0) return;
    const path = head.split(" ", 2)[1] ?? "";
    head = "";
    bytesLeft = undefined;
    onRequest(path);
  });
}

function endsWithConnection(start: Uint8Array | undefined): boolean {
  return Buffer.from(start?.subarray(0, 4_096) ?? []).includes("connection: close\r\n");
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("not listening"));
      else resolve(address.port);
    });
  });
}
