import { type Clock, nextTurn } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { Mutex } from "../base/mutex.ts";
import type { JsonObject } from "../call/chat.ts";
import type { ChainLink, ResponseStore, SealedResponse, StoredResponse } from "./response.ts";

const mib = 1024 * 1024;

/** Larger requests cannot be stored; the endpoint refuses them before the call. */
const maxStoredBytes = 16 * mib;
/** With the reply. No model writes a reply larger than the difference. */
const maxResponseBytes = 20 * mib;
/** Larger responses are written one after another: each is in memory three times. */
const largeBytes = mib;
/** Our ids are much shorter. */
const maxIdChars = 128;

/** How long a conversation continued by an id can be. */
export interface HistoryBounds {
  readonly responses: number;
  readonly bytes: number;
}

const usualBounds: HistoryBounds = { responses: 1_000, bytes: 16 * mib };
/** Responses that are read at once, unless they are large. */
const readAtOnce = 50;
const bytesAtOnce = 4 * mib;

/** Encrypts in several turns of the event loop. Bytes moved to another place cannot be opened. */
export interface Sealer {
  seal(plain: readonly Uint8Array[], place: string): Promise<Uint8Array>;
  open(sealed: Uint8Array, place: string): Promise<Uint8Array>;
}

export interface StoredResponsesOptions {
  readonly store: ResponseStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly keptMs: number;
  /** The bound of one account; at least the largest size of a response. */
  readonly accountBytes: number;
  readonly bounds?: HistoryBounds | undefined;
}

type NewResponse = Omit<StoredResponse, "createdAtMs" | "expiresAtMs">;

/** The responses of all accounts, encrypted in the database, for all gateways that share it. */
export class StoredResponses {
  readonly #options: StoredResponsesOptions;
  readonly #bounds: HistoryBounds;
  readonly #large = new Mutex();

  constructor(options: StoredResponsesOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? usualBounds;
  }

  /** The largest request that can be stored. */
  get maxStoredBytes(): number {
    return maxStoredBytes;
  }

  /** False: it is too large to be stored, which takes a reply of millions of tokens. */
  async save({ input, reply, ...given }: NewResponse): Promise<boolean> {
    const { clock, keptMs } = this.#options;
    const createdAtMs = clock.nowMs();
    const head = { ...given, createdAtMs, expiresAtMs: createdAtMs + keptMs };
    const output = outputOf(reply);
    const items = await piecesOf({ input, output: output ?? null });
    const rest = await piecesOf(output === undefined ? reply : { ...reply, output: null });
    const sizeBytes = sizeOf(items) + sizeOf(rest);
    if (sizeBytes > maxResponseBytes) return false;
    const write = () => this.#write(head, items, rest);
    await (sizeBytes > largeBytes ? this.#large.run(write) : write());
    return true;
  }

  async find(accountId: string, id: string): Promise<StoredResponse> {
    const { store, clock } = this.#options;
    const known = { accountId, nowMs: clock.nowMs() };
    const [row] = id.length > maxIdChars ? [] : await store.find({ ...known, ids: [id] });
    if (row === undefined) throw notFound();
    const { items, reply, ...head } = row;
    const { input, output } = toItems(await this.#open(items, placeOf("items", head)));
    const rest = (await this.#open(reply, placeOf("reply", head))) as JsonObject;
    return { ...head, input, reply: output === null ? rest : { ...rest, output } };
  }

  async remove(accountId: string, id: string): Promise<void> {
    const { store, clock } = this.#options;
    const isRemoved =
      id.length <= maxIdChars && (await store.remove({ accountId, id, nowMs: clock.nowMs() }));
    if (!isRemoved) throw notFound();
  }

  /**
   * What a request that continues this response begins with: the items of the whole conversation,
   * the oldest first, each request's input before its output.
   */
  async history(accountId: string, id: string): Promise<readonly JsonObject[]> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    const most = this.#bounds.responses + 1;
    const chain = id.length > maxIdChars ? [] : await store.chain({ accountId, id, nowMs, most });
    this.#check(chain);
    const found: JsonObject[] = [];
    for (const ids of batchesOf(chain.toReversed())) {
      const rows = await store.find({ accountId, ids, nowMs });
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const one of ids) {
        const row = byId.get(one);
        // It was deleted just now.
        if (row === undefined) throw refused(incomplete);
        const { input, output } = toItems(await this.#open(row.items, placeOf("items", row)));
        for (const item of [input, output ?? []].flat()) found.push(item);
      }
    }
    return found;
  }

  #check(chain: readonly ChainLink[]): void {
    const { responses, bytes } = this.#bounds;
    const first = chain.at(-1);
    if (first === undefined) throw refused(missing);
    if (chain.length > responses)
      throw refused(
        `The conversation has more than ${responses.toLocaleString("en-US")} responses. ${sendAll}`,
      );
    if (first.previousId !== undefined) throw refused(incomplete);
    if (chain.reduce((sum, { itemsBytes }) => sum + itemsBytes, 0) > bytes)
      throw refused(
        `The conversation has more than ${(bytes / mib).toLocaleString("en-US")} MiB. Shorten it, and send it in input.`,
      );
  }

  async #write(
    head: Omit<SealedResponse, "items" | "reply">,
    items: readonly Uint8Array[],
    reply: readonly Uint8Array[],
  ): Promise<void> {
    const { store, sealer, accountBytes } = this.#options;
    const sealed = {
      ...head,
      items: await sealer.seal(items, placeOf("items", head)),
      reply: await sealer.seal(reply, placeOf("reply", head)),
    };
    await store.save(sealed, accountBytes);
  }

  async #open(sealed: Uint8Array, place: string): Promise<unknown> {
    const bytes = await this.#options.sealer.open(sealed, place).catch((cause: unknown) => {
      throw new Error("a stored response was changed or moved in the database", { cause });
    });
    const isLarge = bytes.length > largeBytes;
    if (isLarge) await nextTurn();
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
    if (isLarge) await nextTurn();
    const value: unknown = JSON.parse(text);
    if (isLarge) await nextTurn();
    return value;
  }
}

/** Identifies a row: bytes of another account, response or column cannot be opened here. */
const placeOf = (
  column: "items" | "reply",
  { accountId, id, previousId }: Pick<SealedResponse, "accountId" | "id" | "previousId">,
) => JSON.stringify([column, accountId, id, previousId ?? null]);

const sendAll = "Send it in input instead.";
const missing = `The response in previous_response_id does not exist or has expired. Send the whole conversation in input instead.`;
const incomplete =
  "A response of the conversation that previous_response_id continues was deleted or has expired. Send the whole conversation in input instead.";

const refused = (message: string) =>
  new ApiError({ code: "invalid_request", param: "previous_response_id", message });

const notFound = () =>
  new ApiError({
    code: "response_not_found",
    message: "The response does not exist, was not stored, or has expired.",
  });

function outputOf({ output }: JsonObject): readonly unknown[] | undefined {
  return Array.isArray(output) ? output : undefined;
}

interface Items {
  readonly input: readonly JsonObject[];
  /** Null: the reply has none. */
  readonly output: JsonObject[] | null;
}

const toItems = (value: unknown) => value as Items;

const sizeOf = (pieces: readonly Uint8Array[]) =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** JSON of an object. If it is large, the event loop runs other work between the pieces. */
async function piecesOf(fields: Readonly<Record<string, unknown>>): Promise<readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  let text = "";
  for (const part of textsOf(fields)) {
    text += part;
    if (text.length < largeBytes) continue;
    await nextTurn();
    pieces.push(Buffer.from(text));
    text = "";
    await nextTurn();
  }
  pieces.push(Buffer.from(text));
  return pieces;
}

/** Writes the items of lists one by one. */
function* textsOf(fields: Readonly<Record<string, unknown>>): Generator<string> {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  yield "{";
  for (const [at, [name, value]] of known.entries()) {
    yield `${at === 0 ? "" : ","}${JSON.stringify(name)}:`;
    if (!Array.isArray(value)) yield JSON.stringify(value);
    else {
      yield "[";
      for (const [place, item] of value.entries())
        yield `${place === 0 ? "" : ","}${JSON.stringify(item)}`;
      yield "]";
    }
  }
  yield "}";
}

function* batchesOf(chain: readonly ChainLink[]): Generator<readonly string[]> {
  let ids: string[] = [];
  let bytes = 0;
  for (const { id, itemsBytes } of chain) {
    if (ids.length === readAtOnce || (ids.length > 0 && bytes + itemsBytes > bytesAtOnce)) {
      yield ids;
      [ids, bytes] = [[], 0];
    }
    ids.push(id);
    bytes += itemsBytes;
  }
  if (ids.length > 0) yield ids;
}
