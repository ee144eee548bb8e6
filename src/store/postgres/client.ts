import { Client, type ClientBase, type ClientConfig } from "pg";
import { deadlines } from "./deadlines.ts";

declare module "pg" {
  interface QueryConfig {
    /** For how long the server may send nothing while this statement is in flight. */
    readonly answerMs?: number;
  }
}

/** The code of the error, as errors of the network have one. */
export const noAnswer = "ENOANSWER";

/** The server sent nothing for as long as the statement may wait. Whether it was done is unknown. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
  readonly code = noAnswer;

  constructor(answerMs: number) {
    super(`the database server sent nothing for ${answerMs} ms`);
  }
}

export interface BoundedClientConfig extends ClientConfig {
  /** For how long the server may send nothing while a statement is in flight. */
  readonly answerMs?: number | undefined;
}

interface Connection {
  readonly stream: { readonly bytesRead: number; destroy(): void };
  emit(event: "error", error: Error): void;
}

/** While this process was stopped, its timers ended; an answer may have come meanwhile. */
const lastLookMs = 20;

/**
 * A connection on which nothing waits forever. When the server has sent nothing for `answerMs` while
 * a statement is in flight, the connection is broken: all its statements fail, and the pool and the
 * query builder treat it as any other connection that was lost.
 */
export class BoundedClient extends Client {
  readonly #usualMs: number;
  /** Called when the connection was given up; the server may still be at work for it. */
  onGivenUp: () => void = () => {};
  /** For the statements that follow; a statement with `answerMs` has its own. */
  answerMs: number;

  constructor(config: BoundedClientConfig = {}) {
    super(config);
    this.#usualMs = config.answerMs ?? deadlines.statement;
    this.answerMs = this.#usualMs;
    const query = this.query.bind(this) as (...given: readonly unknown[]) => unknown;
    Object.assign(this, {
      query: (...given: readonly unknown[]) => this.#bound(query, given),
    });
  }

  /** Before another one uses the connection. */
  resetDeadline(): void {
    this.answerMs = this.#usualMs;
  }

  #bound(query: (...given: readonly unknown[]) => unknown, given: readonly unknown[]): unknown {
    const [statement, ...rest] = given.map(toStorable);
    const end = this.#watch(answerMsOf(statement) ?? this.answerMs);
    const callback = rest.at(-1);
    if (typeof callback === "function")
      return query(statement, ...rest.slice(0, -1), (...reply: readonly unknown[]) => {
        end();
        callback(...reply);
      });
    const result = query(statement, ...rest);
    return result instanceof Promise ? result.finally(end) : result;
  }

  #watch(answerMs: number): () => void {
    const connection = this.#connection();
    let { bytesRead } = connection.stream;
    let isLastLook = false;
    const look = () => {
      const { stream } = connection;
      if (stream.bytesRead === bytesRead && isLastLook) return this.#giveUp(answerMs);
      isLastLook = stream.bytesRead === bytesRead;
      ({ bytesRead } = stream);
      timer = setTimeout(look, isLastLook ? lastLookMs : answerMs);
    };
    let timer = setTimeout(look, answerMs);
    return () => clearTimeout(timer);
  }

  #giveUp(answerMs: number): void {
    const connection = this.#connection();
    // Before anybody hears of it: from here on the pool does not take the connection back.
    connection.emit("error", new NoAnswerError(answerMs));
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
export function setDeadline(client: ClientBase, answerMs: number): void {
  if (client instanceof BoundedClient) client.answerMs = answerMs;
}

function answerMsOf(statement: unknown): number | undefined {
  if (typeof statement !== "object" || statement === null || !("answerMs" in statement))
    return undefined;
  return typeof statement.answerMs === "number" ? statement.answerMs : undefined;
}

/**
 * The server stores no NUL, and fails the statement. It becomes the mark for what cannot be shown, as
 * half a character does in the driver: a search for it finds nothing, which is no fault of ours.
 */
const toStorable = (given: unknown) => (Array.isArray(given) ? given.map(withoutNul) : given);

const withoutNul = (value: unknown) =>
  typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value;
