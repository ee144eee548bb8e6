import { Client, type ClientBase, type ClientConfig } from "pg";
import { deadlines } from "./deadlines.ts";
import { type ByteStream, boundMessages } from "./message-bound.ts";

declare module "pg" {
  interface QueryConfig {
    /** For how long the server may send nothing while this statement is in flight. */
    readonly answerMs?: number;
    /** How long it may take until its end; default: `longestMs(answerMs)`. */
    readonly totalMs?: number;
  }
}

/** The code of the error, as errors of the network have one. */
export const noAnswer = "ENOANSWER";

/** The statement did not end within its limits. Whether it was done is unknown. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
  readonly code = noAnswer;

  constructor({ answerMs, totalMs }: Limits, isSilent: boolean) {
    super(
      isSilent
        ? `the database server sent nothing for ${answerMs} ms`
        : `the database server has not ended its answer after ${totalMs} ms`,
    );
  }
}

export interface BoundedClientConfig extends ClientConfig {
  /** For how long the server may send nothing while a statement is in flight. */
  readonly answerMs?: number | undefined;
}

interface Limits {
  readonly answerMs: number;
  readonly totalMs: number;
}

/**
 * Each byte ends a silence, so one per second would hold a connection forever. The server cancels
 * statements by itself, unless they may take any time.
 */
const longestMs = (answerMs: number) =>
  answerMs > deadlines.long ? Number.POSITIVE_INFINITY : deadlines.long;

interface Connection {
  readonly stream: { readonly bytesRead: number; destroy(): void };
  emit(event: "error", error: Error): void;
  /** The driver's own; it is called again for a stream that became TLS. */
  attachListeners(stream: ByteStream): void;
}

/** While this process was stopped, its timers ended; an answer may have come meanwhile. */
const lastLookMs = 20;

/**
 * A connection on which nothing waits forever. When the server has sent nothing for `answerMs` while
 * a statement is in flight, or has not ended it after `totalMs`, the connection is broken: all its
 * statements fail, and the pool and the query builder treat it as any other connection that was lost.
 */
export class BoundedClient extends Client {
  readonly #usual: Limits;
  /** Called when the connection was given up; the server may still be at work for it. */
  onGivenUp: () => void = () => {};
  /** For the statements that follow; a statement with `answerMs` has its own. */
  limits: Limits;

  constructor(config: BoundedClientConfig = {}) {
    super(config);
    const answerMs = config.answerMs ?? deadlines.statement;
    this.#usual = { answerMs, totalMs: longestMs(answerMs) };
    this.limits = this.#usual;
    const query = this.query.bind(this) as (...given: readonly unknown[]) => unknown;
    Object.assign(this, {
      query: (...given: readonly unknown[]) => this.#bound(query, given),
    });
    const connection = this.#connection();
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream) =>
      attach(boundMessages(stream, (fault) => this.#giveUp(fault)));
  }

  /** Before another one uses the connection. */
  resetDeadline(): void {
    this.limits = this.#usual;
  }

  #bound(query: (...given: readonly unknown[]) => unknown, given: readonly unknown[]): unknown {
    const [statement, ...rest] = given.map(toStorable);
    const end = this.#watch(limitsOf(statement) ?? this.limits);
    const callback = rest.at(-1);
    if (typeof callback === "function")
      return query(statement, ...rest.slice(0, -1), (...reply: readonly unknown[]) => {
        end();
        callback(...reply);
      });
    const result = query(statement, ...rest);
    return result instanceof Promise ? result.finally(end) : result;
  }

  #watch(limits: Limits): () => void {
    const connection = this.#connection();
    const firstBytes = connection.stream.bytesRead;
    let bytesRead = firstBytes;
    let leftMs = limits.totalMs;
    let waitMs = Math.min(limits.answerMs, leftMs);
    let isLastLook = false;
    const look = () => {
      leftMs -= waitMs;
      const isSilent = connection.stream.bytesRead === bytesRead;
      const isOver = isSilent || leftMs <= 0;
      const hasBegun = leftMs <= 0 && bytesRead > firstBytes;
      if (isOver && isLastLook) return this.#giveUp(new NoAnswerError(limits, !hasBegun));
      isLastLook = isOver;
      ({ bytesRead } = connection.stream);
      waitMs = isOver ? lastLookMs : Math.min(limits.answerMs, leftMs);
      timer = setTimeout(look, waitMs);
    };
    let timer = setTimeout(look, waitMs);
    return () => clearTimeout(timer);
  }

  #giveUp(error: Error): void {
    const connection = this.#connection();
    // Before anybody hears of it: from here on the pool does not take the connection back.
    connection.emit("error", error);
    connection.stream.destroy();
    this.onGivenUp();
  }

  /** Ends the connection without a word to the server. */
  destroy(): void {
    this.#connection().stream.destroy();
  }

  #connection(): Connection {
    return (this as unknown as { readonly connection: Connection }).connection;
  }
}

/** Statements that follow on this connection may wait this long, until it goes back to the pool. */
export function setDeadline(
  client: ClientBase,
  answerMs: number,
  totalMs = longestMs(answerMs),
): void {
  if (client instanceof BoundedClient) client.limits = { answerMs, totalMs };
}

function limitsOf(statement: unknown): Limits | undefined {
  if (typeof statement !== "object" || statement === null || !("answerMs" in statement))
    return undefined;
  const { answerMs } = statement;
  if (typeof answerMs !== "number") return undefined;
  const totalMs = "totalMs" in statement ? statement.totalMs : undefined;
  return { answerMs, totalMs: typeof totalMs === "number" ? totalMs : longestMs(answerMs) };
}

/**
 * The server stores no NUL, and fails the statement. It becomes the mark for what cannot be shown, as
 * half a character does in the driver: a search for it finds nothing, which is no fault of ours.
 */
const toStorable = (given: unknown) => (Array.isArray(given) ? given.map(withoutNul) : given);

const withoutNul = (value: unknown) =>
  typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value;
