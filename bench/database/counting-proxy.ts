/**
 * Stands between gateways and one PostgreSQL server, and counts what passes. A process of the bench:
 * its argument is the server's port, and every question is answered with the sums until now.
 */
import { connect, createServer, type Socket } from "node:net";
import { announce } from "../load/processes.ts";
import { MessageCounter } from "./message-counter.ts";

export type WireSums = {
  readonly calls: number;
  readonly messagesOut: number;
  readonly messagesIn: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
};

type Side = { readonly socket: Socket; readonly counter: MessageCounter };

const counters: { readonly client: MessageCounter; readonly server: MessageCounter }[] = [];

function join(client: Socket, serverPort: number): void {
  const server = connect({ port: serverPort, host: "127.0.0.1", noDelay: true });
  const pair = { client: new MessageCounter("client"), server: new MessageCounter("server") };
  counters.push(pair);
  pipe({ socket: client, counter: pair.client }, server);
  pipe({ socket: server, counter: pair.server }, client);
}

function pipe({ socket, counter }: Side, to: Socket): void {
  socket.setNoDelay(true);
  socket.on("data", (bytes: Buffer) => {
    counter.add(bytes);
    if (!to.write(bytes)) socket.pause();
  });
  to.on("drain", () => socket.resume());
  socket.on("error", () => {});
  socket.on("close", () => to.destroy());
}

function sums(): WireSums {
  const sum = (read: (pair: (typeof counters)[number]) => number) =>
    counters.reduce((total, pair) => total + read(pair), 0);
  return {
    calls: sum(({ client }) => client.calls),
    messagesOut: sum(({ client }) => client.messages),
    messagesIn: sum(({ server }) => server.messages),
    bytesOut: sum(({ client }) => client.bytes),
    bytesIn: sum(({ server }) => server.bytes),
  };
}

if (import.meta.main) {
  const serverPort = Number(process.argv[2]);
  const listener = createServer((client) => join(client, serverPort));
  listener.listen(0, "127.0.0.1", () => {
    const address = listener.address();
    process.on("message", () => process.send?.({ type: "result", result: sums() }));
    announce(typeof address === "object" ? address?.port : undefined);
  });
}
