/** A TCP server that a test plays by hand, where the fake upstream keeps too many of HTTP's rules. */

import type { Socket, TCPSocketListener } from "bun";

export class RawConnection {
  /** Counts connections from 1. */
  readonly number: number;
  readonly socket: Socket<RawConnection | undefined>;
  /** All that came, as Latin-1. */
  received = "";
  readonly #closed = Promise.withResolvers<void>();

  constructor(socket: Socket<RawConnection | undefined>, number: number) {
    this.socket = socket;
    this.number = number;
  }

  /** Resolves when either side has closed it. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  send(bytes: string): void {
    this.socket.write(bytes);
  }

  close(): void {
    this.#closed.resolve();
  }
}

export interface RawServerOptions {
  /** A connection has opened. */
  readonly onOpen?: (connection: RawConnection) => void;
  /** More has come over a connection: what counts is `received`. */
  readonly onData?: (connection: RawConnection) => void;
}

export class RawServer {
  readonly connections: RawConnection[] = [];
  readonly #listener: TCPSocketListener<RawConnection | undefined>;
  #waiters: ((connection: RawConnection) => void)[] = [];

  constructor({ onOpen, onData }: RawServerOptions = {}) {
    this.#listener = Bun.listen<RawConnection | undefined>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          const connection = new RawConnection(socket, this.connections.length + 1);
          socket.data = connection;
          this.connections.push(connection);
          onOpen?.(connection);
          this.#waiters.shift()?.(connection);
        },
        data: ({ data: connection }, bytes) => {
          if (connection === undefined) return;
          connection.received += bytes.toString("latin1");
          onData?.(connection);
        },
        close: ({ data: connection }) => connection?.close(),
      },
    });
  }

  get port(): number {
    return this.#listener.port;
  }

  /** The next one that opens. */
  nextConnection(): Promise<RawConnection> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  stop(): void {
    this.#listener.stop(true);
  }
}

/** Answers every request that has no body, and leaves every connection open. */
export function startAnswering(reply: string | ((connection: RawConnection) => string)): RawServer {
  return new RawServer({
    onData(connection) {
      if (!connection.received.endsWith("\r\n\r\n")) return;
      connection.send(typeof reply === "string" ? reply : reply(connection));
    },
  });
}
