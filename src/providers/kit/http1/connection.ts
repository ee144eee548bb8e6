import type { Socket, SocketHandler } from "bun";
import type { Signal } from "../../../call/signal.ts";
import { MalformedReplyError, ReplyHead } from "./reply-head.ts";
import { SocketReply } from "./socket-reply.ts";

/** Where a connection leads: an address and its port, or a unix socket. */
export interface Place {
  readonly hostname: string;
  readonly port: number;
  /** The name that the certificate must have; undefined: not encrypted. */
  readonly serverName: string | undefined;
  readonly unix: string | undefined;
}

/** A request as it is written. */
export interface Message {
  /** Request line and header lines, each with its line end; without a length. */
  readonly head: string;
  /** Posted; undefined: there is none. */
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal: Signal;
}

/** There is no connection, or it broke before the reply was whole. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: string;
  /** Nothing was sent: the server cannot have acted on the request. */
  readonly isUnsent: boolean;

  constructor(code: string, isUnsent = false) {
    super(code);
    this.code = code;
    this.isUnsent = isUnsent;
  }
}

/** The code of a server that speaks another version of HTTP only: nothing was sent to it. */
export const notHttp1 = "NotHttp1";
/** What we speak, as a TLS handshake lists it: each name behind its length. */
const protocols = "\x08http/1.1";

/** What a connection reports to its pool. */
export interface ConnectionOwner {
  /** The reply has ended and the server keeps the connection: another request may use it. */
  free(connection: Connection): void;
  /** It is closed for good. */
  drop(connection: Connection): void;
  /** The server sent bytes behind the end of a reply. */
  stray(connection: Connection): void;
  /** The server says that it closes connections that are free for this long. */
  expectClose(afterMs: number): void;
}

/** Vendors send one or two kB. */
const maxHeadBytes = 64 * 1024;
/** Informational replies before the real one. */
const maxInterim = 10;
/** Up to here a request goes out as one string in one write. */
const joinedBytes = 64 * 1024;
const headEnd = "\r\n\r\n";

type Packet = Buffer<ArrayBuffer>;

/** A request, and whom to tell what becomes of it. */
export interface Sending {
  readonly message: Message;
  readonly resolve: (reply: SocketReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One connection that serves one request after another: opening → busy ⇄ idle → closed. A request
 * whose caller leaves ends its connection, because nothing else ends an HTTP/1.1 reply.
 */
export class Connection {
  /** When it was last freed. */
  idleSinceMs = 0;
  readonly #owner: ConnectionOwner;
  readonly #isEncrypted: boolean;
  #socket: Socket<Connection> | undefined;
  /** The request that has no reply yet. */
  #waiting: Sending | undefined;
  #reply: SocketReply | undefined;
  /** Of the request that was sent last. */
  #signal: Signal | undefined;
  /** What the socket has not taken yet. */
  #unsent: Packet | undefined;
  /** Some of the request may have reached the server. */
  #hasSent = false;
  /** The start of a head whose end has not come. */
  #head: Packet | undefined;
  #headBytes = 0;
  #interim = 0;
  #isReusable = false;
  /** The reply began before the whole request was written. */
  #isEarly = false;
  /** The handshake is over. */
  #isSecured = false;
  #isClosed = false;

  constructor(place: Place, owner: ConnectionOwner) {
    this.#owner = owner;
    this.#isEncrypted = place.serverName !== undefined;
    connect(place, this);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a request as soon as the connection is open. Resolves with the head of the reply. */
  send(sending: Sending): void {
    const { message } = sending;
    this.#waiting = sending;
    this.#signal = message.signal;
    this.#hasSent = false;
    this.#isEarly = false;
    this.#interim = 0;
    message.signal.addEventListener("abort", this.#onAbort);
    const socket = this.#socket;
    if (socket === undefined) return;
    socket.ref();
    this.#write(socket, message);
  }

  opened(socket: Socket<Connection>): void {
    if (this.#isClosed) return void socket.terminate();
    this.#socket = socket;
    socket.setNoDelay(true);
    // A certificate is looked at before anything is sent.
    if (!this.#isEncrypted) this.#begin(socket);
  }

  handshaken(socket: Socket<Connection>, isTrusted: boolean, problem: Error | null): void {
    // A second handshake on the same connection: the request must not go out again.
    if (this.#isSecured) return this.#fail(new ConnectionError("Renegotiated"));
    this.#isSecured = isTrusted && problem === null;
    if (this.#isSecured) return this.#begin(socket);
    // The runtime has no code of its own for this.
    const isOther = problem?.message.includes(":TLSV1_ALERT_NO_APPLICATION_PROTOCOL") === true;
    const code = isOther ? notHttp1 : codeOf(problem, "TLSHandshakeFailed");
    this.#fail(new ConnectionError(code, isOther));
  }

  take(packet: Packet): void {
    try {
      if (this.#reply !== undefined) this.#reply.take(packet, 0);
      else if (this.#waiting !== undefined) this.#takeHead(packet, this.#waiting);
      // Nobody asked for it: whatever it is, it must not become the reply to the next request.
      else this.#owner.stray(this);
    } catch (error) {
      this.#fail(error);
    }
  }

  drained(): void {
    const unsent = this.#unsent;
    if (unsent === undefined || this.#socket === undefined) return;
    const sentBytes = this.#socket.write(unsent);
    if (sentBytes < 0) return this.closed(undefined);
    if (sentBytes > 0) this.#hasSent = true;
    this.#unsent = sentBytes >= unsent.length ? undefined : unsent.subarray(sentBytes);
  }

  /** The server has closed it, or it broke. */
  closed(cause: unknown): void {
    if (this.#isClosed) return;
    const reply = this.#reply;
    if (cause === undefined && reply?.endsAtClose === true) reply.finish();
    const isUnsent = this.#waiting !== undefined && !this.#hasSent;
    this.#fail(new ConnectionError(codeOf(cause, "ConnectionClosed"), isUnsent));
  }

  unconnected(cause: unknown): void {
    this.#fail(new ConnectionError(codeOf(cause, "FailedToOpenSocket"), true));
  }

  /** The reply has come to its end; `restBytes` follow it. */
  replied(restBytes: number): void {
    this.#leaveCall();
    this.#reply = undefined;
    const socket = this.#socket;
    if (restBytes > 0) return this.#owner.stray(this);
    // A server may refuse a request early, but the reply may also be a late one to another request.
    if (!this.#isReusable || this.#isEarly || socket === undefined) return this.end();
    socket.unref();
    this.#owner.free(this);
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  /** Closes it at once, whatever is in flight. */
  end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#leaveCall();
    this.#reply = undefined;
    this.#unsent = undefined;
    this.#socket?.terminate();
    this.#owner.drop(this);
  }

  readonly #onAbort = (): void => this.#fail(new ConnectionError("Aborted"));

  #begin(socket: Socket<Connection>): void {
    if (this.#waiting !== undefined) this.#write(socket, this.#waiting.message);
  }

  /** In one write, if it is short: a head and a body that leave apart are two packets. */
  #write(socket: Socket<Connection>, { head, body }: Message): void {
    const bodyBytes = body === undefined ? 0 : Buffer.byteLength(body);
    const start =
      body === undefined ? `${head}\r\n` : `${head}content-length: ${bodyBytes}${headEnd}`;
    if (body !== undefined && (typeof body !== "string" || bodyBytes > joinedBytes)) {
      const whole = Buffer.allocUnsafe(start.length + bodyBytes);
      // A head is ASCII.
      whole.write(start, 0, "latin1");
      if (typeof body === "string") whole.write(body, start.length, "utf8");
      else whole.set(body, start.length);
      this.#unsent = whole;
      return this.drained();
    }
    const text = body === undefined ? start : start + body;
    const sentBytes = socket.write(text);
    if (sentBytes < 0) return this.closed(undefined);
    this.#hasSent = sentBytes > 0;
    // A head is ASCII.
    if (sentBytes < start.length + bodyBytes) this.#unsent = Buffer.from(text).subarray(sentBytes);
  }

  #takeHead(packet: Packet, waiting: Sending): void {
    if (this.#unsent !== undefined) this.#isEarly = true;
    const bytes = this.#headBytes === 0 ? packet : this.#keep(packet);
    const searchedBytes = Math.max(0, bytes.length - packet.length - headEnd.length + 1);
    const end = bytes.indexOf(headEnd, searchedBytes, "latin1");
    if ((end === -1 ? bytes.length : end) > maxHeadBytes)
      throw new MalformedReplyError("the head is too long");
    if (end === -1) {
      if (!mayBeHead(bytes)) throw new MalformedReplyError("the reply is not HTTP");
      if (this.#headBytes === 0) this.#keep(packet);
      return;
    }
    this.#headBytes = 0;
    this.#head = undefined;
    const head = new ReplyHead(bytes.toString("latin1", 0, end));
    const bodyStart = end + headEnd.length;
    if (head.status < 200) return this.#skipInterim(head, bytes.subarray(bodyStart));
    this.#waiting = undefined;
    this.#isReusable = head.isKept;
    if (head.keptMs !== undefined) this.#owner.expectClose(head.keptMs);
    const reply = new SocketReply(head, this);
    this.#reply = reply;
    // First, because a malformed body may come along with the head.
    waiting.resolve(reply);
    reply.take(bytes, bodyStart);
  }

  /** Adds to the head so far, in a buffer that grows: packets may be single bytes. */
  #keep(packet: Packet): Packet {
    const neededBytes = this.#headBytes + packet.length;
    if (this.#head === undefined || this.#head.length < neededBytes) {
      const larger = Buffer.allocUnsafe(Math.max(1024, 2 * neededBytes));
      this.#head?.copy(larger, 0, 0, this.#headBytes);
      this.#head = larger;
    }
    packet.copy(this.#head, this.#headBytes);
    this.#headBytes = neededBytes;
    return this.#head.subarray(0, neededBytes);
  }

  #skipInterim({ status }: ReplyHead, rest: Packet): void {
    // We asked for no other protocol.
    if (status === 101 || ++this.#interim > maxInterim)
      throw new MalformedReplyError("an interim reply was not expected");
    if (rest.length > 0) this.take(rest);
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    const waiting = this.#waiting;
    const reply = this.#reply;
    this.#waiting = undefined;
    this.#reply = undefined;
    this.end();
    waiting?.reject(error);
    reply?.fail(error);
  }

  #leaveCall(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#signal = undefined;
  }
}

const headStart = Buffer.from("HTTP/1.");

/** A server that speaks something else may wait for more, as we would: it is found out at once. */
function mayBeHead(bytes: Packet): boolean {
  const comparedBytes = Math.min(bytes.length, headStart.length);
  return headStart.compare(bytes, 0, comparedBytes, 0, comparedBytes) === 0;
}

function codeOf(cause: unknown, otherwise: string): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : otherwise;
}

const handlers: SocketHandler<Connection> = {
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, isTrusted, problem) => socket.data.handshaken(socket, isTrusted, problem),
  data: (socket, packet) => socket.data.take(packet as Packet),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.closed(undefined),
  close: (socket, cause) => socket.data.closed(cause),
  error: (socket, cause) => socket.data.closed(cause),
};

function connect({ hostname, port, serverName, unix }: Place, connection: Connection): void {
  const socket = handlers;
  const data = connection;
  const opening =
    unix !== undefined
      ? Bun.connect<Connection>({ unix, socket, data })
      : serverName === undefined
        ? Bun.connect<Connection>({ hostname, port, socket, data })
        : Bun.connect<Connection>({
            hostname,
            port,
            socket,
            data,
            tls: { serverName, ALPNProtocols: protocols },
          });
  opening.catch((cause: unknown) => connection.unconnected(cause));
}
