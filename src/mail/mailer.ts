import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SmtpServer } from "../base/network/smtp-url.ts";
import { isMailAddress, type Mailbox } from "../base/text/mailbox.ts";
import { BoundedSocket, mostReadBytes } from "./bounded-socket.ts";
import { MailTrouble, toTrouble } from "./trouble.ts";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailerOptions {
  readonly server: SmtpServer;
  readonly from: Mailbox;
  /** For one message, with the wait for its turn. */
  readonly totalMs?: number;
}

/** Less than a browser waits for the reply that has the result. */
const usualTotalMs = 20_000;
const mostAtOnce = 4;
const mostWaiting = 50;

/** Loaded when the first message is sent: most starts do without it. */
const library = () => import("nodemailer");

/**
 * Sends one message per connection. At most four connections are open; further messages wait for
 * their turn, and more than fifty are refused. Whatever the server does, a message ends in time: its
 * connection is then cut.
 */
export class Mailer {
  readonly #server: SmtpServer;
  readonly #from: Mailbox;
  readonly #totalMs: number;
  readonly #waiting: (() => void)[] = [];
  #active = 0;

  constructor({ server, from, totalMs = usualTotalMs }: MailerOptions) {
    this.#server = server;
    this.#from = from;
    this.#totalMs = totalMs;
  }

  /** Resolves when the server has accepted the message; rejects with a MailTrouble. */
  async send({ to, subject, text, html }: Mail): Promise<void> {
    if (!isMailAddress(to)) throw new MailTrouble("rejected", "the address is not valid");
    const { name, address } = this.#from;
    await this.#inTurn((transport) =>
      transport.sendMail({
        // As parts, so that nothing in them is read as a further address.
        from: { name, address },
        to: { name: "", address: to },
        envelope: { from: address, to: [to] },
        subject,
        text,
        html,
        // Keeps holiday replies away.
        headers: { "Auto-Submitted": "auto-generated" },
        disableFileAccess: true,
        disableUrlAccess: true,
      }),
    );
  }

  /** Connects and signs in, and sends nothing. */
  async check(): Promise<void> {
    await this.#inTurn((transport) => transport.verify());
  }

  async #inTurn(work: (transport: Transport) => Promise<unknown>): Promise<void> {
    const signal = AbortSignal.timeout(this.#totalMs);
    await this.#turn(signal);
    try {
      await this.#run(work, signal);
    } finally {
      // The turn goes on to the next one, or ends.
      const next = this.#waiting.shift();
      if (next === undefined) this.#active--;
      else next();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#active < mostAtOnce) {
      this.#active++;
      return;
    }
    if (this.#waiting.length >= mostWaiting) throw new MailTrouble("busy");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      const at = this.#waiting.indexOf(resolve);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      reject(new MailTrouble("late"));
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#waiting.push(resolve);
    await promise;
    signal.removeEventListener("abort", leave);
  }

  async #run(work: (transport: Transport) => Promise<unknown>, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new MailTrouble("late");
    let socket: Socket | undefined;
    const { promise: cut, reject } = Promise.withResolvers<never>();
    const end = (trouble: MailTrouble) => {
      socket?.destroy();
      reject(trouble);
    };
    const endLate = () => end(new MailTrouble("late"));
    signal.addEventListener("abort", endLate, { once: true });
    try {
      const transport = await this.#transport({
        onSocket(opened) {
          socket = opened;
          if (signal.aborted) opened.destroy();
        },
        onTooMuch: () =>
          end(new MailTrouble("failed", `it sent more than ${mostReadBytes / 1024} KiB`)),
      });
      await Promise.race([work(transport), cut]);
    } catch (error) {
      throw error instanceof MailTrouble ? error : toTrouble(error);
    } finally {
      signal.removeEventListener("abort", endLate);
      socket?.destroy();
    }
  }

  async #transport({ onSocket, onTooMuch }: SocketEvents) {
    const { host, port, isTls, needsTls, login } = this.#server;
    const { createTransport } = await library();
    const totalMs = this.#totalMs;
    return createTransport({
      host,
      port,
      secure: isTls,
      requireTLS: needsTls,
      ignoreTLS: !needsTls && !isTls,
      ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password } }),
      tls: { minVersion: "TLSv1.2", ...(isIP(host) === 0 ? { servername: host } : {}) },
      greetingTimeout: totalMs,
      socketTimeout: totalMs,
      // The library's own socket could not be cut in the middle of a handshake.
      getSocket: (_, answer) => {
        const socket = connect({ host, port });
        onSocket(socket);
        socket.once("error", (error) => answer(error));
        socket.once("connect", () => {
          socket.removeAllListeners("error");
          const bounded: Duplex = new BoundedSocket(socket, onTooMuch);
          // The library uses no more of a socket than this has.
          answer(null, { connection: bounded as Socket });
        });
        socket.once("close", () => answer(new Error("closed")));
      },
    });
  }
}

interface SocketEvents {
  readonly onSocket: (socket: Socket) => void;
  readonly onTooMuch: () => void;
}

interface Transport {
  sendMail(message: object): Promise<unknown>;
  verify(): Promise<unknown>;
}
