import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { piecesOf } from "../base/json/pieces.ts";
import type { JsonWeight } from "../base/json/weight.ts";
import { Mutex } from "../base/mutex.ts";
import type { JsonObject } from "../call/chat.ts";
import { isLight, parsed, sizeOf } from "./json-pieces.ts";
import { bytesCost, Pace } from "./pace.ts";
import type {
  CallResponseStore,
  ChainLink,
  SealedItems,
  SealedResponse,
  StoredResponse,
} from "./response.ts";

const mib = 1024 * 1024;

/** Larger requests cannot be stored; the endpoint refuses them before the call. */
const maxStoredBytes = 16 * mib;
/** With the reply. No model writes a reply larger than the difference. */
const maxResponseBytes = 20 * mib;
/** Larger ones are written, and read, one after another: each is in memory several times. */
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
const bytesAtOnce = 2 * mib;

/** Encrypts in several turns of the event loop. Bytes moved to another place cannot be opened. */
export interface Sealer {
  seal(plain: readonly Uint8Array[], place: string): Promise<Uint8Array>;
  open(sealed: Uint8Array, place: string): Promise<Uint8Array>;
}

export interface StoredResponsesOptions {
  readonly store: CallResponseStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly keptMs: number;
  /** The bound of one account; at least the largest size of a response. */
  readonly accountBytes: number;
  readonly bounds?: HistoryBounds | undefined;
}

type NewResponse = Omit<StoredResponse, "createdAtMs" | "expiresAtMs">;

/** What one request reads. */
export interface Loading {
  readonly accountId: string;
  /** Called with the size of what is read next. Throws where there is no memory for it. */
  hold(sizeBytes: number): void;
  /** Of all that the request reads: what is too heavy together is not parsed. */
  readonly weight: JsonWeight;
  /** What is thrown then. */
  tooHeavy(): Error;
}

/** The responses of all accounts, encrypted in the database, for all gateways that share it. */
export class StoredResponses {
  readonly #options: StoredResponsesOptions;
  readonly #bounds: HistoryBounds;
  readonly #largeWrites = new Mutex();
  readonly #largeReads = new Mutex();
  readonly #pace = new Pace();

  constructor(options: StoredResponsesOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? usualBounds;
  }

  /** The largest request that can be stored. */
  get maxStoredBytes(): number {
    return maxStoredBytes;
  }

  /** False: it is not stored, because with its reply it is too large, or too heavy to be read. */
  async save({ input, reply, ...given }: NewResponse): Promise<boolean> {
    const { clock, keptMs } = this.#options;
    const createdAtMs = clock.nowMs();
    const head = { ...given, createdAtMs, expiresAtMs: createdAtMs + keptMs };
    const output = outputOf(reply);
    const items = await piecesOf({ input, output: output ?? null });
    const rest = await piecesOf(output === undefined ? reply : { ...reply, output: null });
    const sizeBytes = sizeOf(items) + sizeOf(rest);
    if (sizeBytes > maxResponseBytes) return false;
    if (!(await isLight([...items, ...rest], this.#pace))) return false;
    const write = () => this.#write(head, items, rest);
    await (sizeBytes > largeBytes ? this.#largeWrites.run(write) : write());
    return true;
  }

  /** Throws where it is not there. */
  async check(accountId: string, id: string): Promise<void> {
    await this.#look(accountId, id);
  }

  async find(id: string, loading: Loading): Promise<StoredResponse> {
    const { sizeBytes } = await this.#look(loading.accountId, id);
    loading.hold(sizeBytes);
    return this.#read(sizeBytes, () => this.#find(id, loading));
  }

  /** As JSON: what is made of it, for a caller. */
  async show(
    id: string,
    loading: Loading,
    view: (found: StoredResponse) => JsonObject,
  ): Promise<readonly Uint8Array[]> {
    const { sizeBytes } = await this.#look(loading.accountId, id);
    loading.hold(sizeBytes);
    return this.#read(sizeBytes, async () => {
      const reply = view(await this.#find(id, loading));
      return this.#pace.run(bytesCost(sizeBytes) + loading.weight.total, () => piecesOf(reply));
    });
  }

  /** Of its input, then those of its output. */
  async items(id: string, loading: Loading): Promise<readonly JsonObject[]> {
    const { accountId } = loading;
    const { itemsBytes } = await this.#look(accountId, id);
    loading.hold(itemsBytes);
    return this.#read(itemsBytes, async () => {
      const known = { accountId, nowMs: this.#options.clock.nowMs() };
      const [row] = await this.#options.store.findItems({ ...known, ids: [id] });
      if (row === undefined) throw notFound();
      return flat(await this.#openItems(row, loading));
    });
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
  async history(id: string, loading: Loading): Promise<readonly JsonObject[]> {
    const { store, clock } = this.#options;
    const { accountId } = loading;
    const nowMs = clock.nowMs();
    const most = this.#bounds.responses + 1;
    const chain = id.length > maxIdChars ? [] : await store.chain({ accountId, id, nowMs, most });
    loading.hold(this.#check(chain));
    const found: JsonObject[] = [];
    for (const batch of batchesOf(chain.toReversed()))
      await this.#read(bytesOf(batch), async () => {
        const ids = batch.map((link) => link.id);
        const rows = await store.findItems({ accountId, ids, nowMs });
        const byId = new Map(rows.map((row) => [row.id, row]));
        for (const one of ids) {
          const row = byId.get(one);
          // Deleted in this moment.
          if (row === undefined) throw refused(incomplete);
          for (const item of flat(await this.#openItems(row, loading))) found.push(item);
        }
      });
    return found;
  }

  /** Large ones one after another. */
  #read<T>(sizeBytes: number, work: () => Promise<T>): Promise<T> {
    return sizeBytes > largeBytes ? this.#largeReads.run(work) : work();
  }

  async #look(accountId: string, id: string): Promise<ChainLink> {
    const { store, clock } = this.#options;
    const query = { accountId, id, nowMs: clock.nowMs(), most: 1 };
    const [link] = id.length > maxIdChars ? [] : await store.chain(query);
    if (link === undefined) throw notFound();
    return link;
  }

  async #find(id: string, loading: Loading): Promise<StoredResponse> {
    const { store, clock } = this.#options;
    const { accountId } = loading;
    const [row] = await store.find({ accountId, ids: [id], nowMs: clock.nowMs() });
    if (row === undefined) throw notFound();
    const { items: _, reply, ...head } = row;
    const { input, output } = await this.#openItems(row, loading);
    const rest = await this.#open(reply, { place: placeOf("reply", head), loading });
    return { ...head, input, reply: output === null ? rest : { ...rest, output } };
  }

  /** Returns how many bytes it has. */
  #check(chain: readonly ChainLink[]): number {
    const { responses, bytes } = this.#bounds;
    const first = chain.at(-1);
    if (first === undefined) throw refused(missing);
    if (chain.length > responses)
      throw refused(
        `The conversation has more than ${responses.toLocaleString("en-US")} responses. ${sendAll}`,
      );
    if (first.previousId !== undefined) throw refused(incomplete);
    const sizeBytes = bytesOf(chain);
    if (sizeBytes > bytes)
      throw refused(
        `The conversation has more than ${(bytes / mib).toLocaleString("en-US")} MiB. Shorten it, and send it in input.`,
      );
    return sizeBytes;
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

  async #openItems(row: SealedItems, loading: Loading): Promise<Items> {
    return toItems(await this.#open(row.items, { place: placeOf("items", row), loading }));
  }

  async #open(sealed: Uint8Array, { place, loading }: Opening): Promise<JsonObject> {
    const open = () => this.#options.sealer.open(sealed, place);
    const bytes = await this.#pace.run(bytesCost(sealed.length), open).catch((cause: unknown) => {
      throw new Error("a stored response was changed or moved in the database", { cause });
    });
    const value = await parsed(bytes, { weight: loading.weight, pace: this.#pace });
    if (value === undefined) throw loading.tooHeavy();
    return value;
  }
}

interface Opening {
  readonly place: string;
  readonly loading: Loading;
}

/** All that identifies a row: bytes of another account, response or column cannot be opened here. */
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

const flat = ({ input, output }: Items): readonly JsonObject[] => [...input, ...(output ?? [])];

const bytesOf = (chain: readonly ChainLink[]) =>
  chain.reduce((sum, { itemsBytes }) => sum + itemsBytes, 0);

function* batchesOf(chain: readonly ChainLink[]): Generator<readonly ChainLink[]> {
  let batch: ChainLink[] = [];
  let bytes = 0;
  for (const link of chain) {
    if (
      batch.length === readAtOnce ||
      (batch.length > 0 && bytes + link.itemsBytes > bytesAtOnce)
    ) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(link);
    bytes += link.itemsBytes;
  }
  if (batch.length > 0) yield batch;
}
