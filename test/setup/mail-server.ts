import type { Socket } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

/** What a mail server got. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came, and with its line breaks of transport taken back. */
  readonly raw: string;
  readonly text: string;
}

export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** The next message that comes. */
  next(): Promise<ReceivedMail>;
  stop(): void;
}

/** A real SMTP server on this machine, without TLS unless asked for. */
/** A server that knows no user of some addresses. */
export const rejecting = (unwanted: ReadonlySet<string>): SMTPServerOptions => ({
  onRcptTo: ({ address }, _, done) =>
    unwanted.has(address)
      ? done(Object.assign(new Error("No such user"), { responseCode: 550 }))
      : done(),
});

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const waiting: ((mail: ReceivedMail) => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    onData(stream, session, done) {
      let raw = "";
      stream.on("data", (bytes) => (raw += bytes.toString()));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw,
          text: raw.replaceAll("=\r\n", "").replaceAll("=3D", "="),
        };
        received.push(mail);
        waiting.shift()?.(mail);
        done();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    received,
    next: () => new Promise((taken) => waiting.push(taken)),
    stop: () => void server.close(() => {}),
  };
}

/** Sends the text again and again, as fast as the other side takes it. */
export function sendWithoutEnd(socket: Socket, text: string): void {
  const block = text.repeat(Math.ceil(65_536 / text.length));
  const fill = () => {
    while (socket.writable && socket.write(block));
  };
  socket.on("drain", fill);
  fill();
}
