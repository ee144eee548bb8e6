import { nextTurn } from "../../../base/clock.ts";
import { ApiError } from "../../../base/errors.ts";
import { JsonWeight, maxJsonWeight } from "../../../base/json/weight.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { Loading, StoredResponses } from "../../../responses/stored-responses.ts";
import { responseIdOf } from "../../../wire/v1/responses/output-items.ts";
import { fieldError } from "../../../wire/v1/validate.ts";

/** Responses that one request can refer to. Each is read from the database. */
const maxResponses = 100;
/** As much as one response can have. */
const maxBytes = 20 * 1024 * 1024;
/** Measured in one turn of the event loop. */
const smallChars = 16 * 1024;

export interface ReferenceOptions {
  readonly archive: Pick<StoredResponses, "items">;
  readonly loading: Loading;
  /** Items of the conversation that the request continues. */
  readonly history: readonly JsonObject[];
}

/** Replaces references by the items that they refer to. */
export function resolveReferences(
  input: readonly Json[],
  options: ReferenceOptions,
): Promise<readonly Json[]> {
  return new References(options).resolve(input);
}

/** The first use of an item takes no additional memory. Each further use counts like a copy. */
interface Known {
  readonly item: JsonObject;
  isThere: boolean;
  size?: Size;
}

interface Size {
  readonly bytes: number;
  readonly weight: number;
}

class References {
  readonly #archive: ReferenceOptions["archive"];
  readonly #loading: Loading;
  readonly #known = new Map<string, Known>();
  readonly #found = new Set<string>();
  /** Of what was read, and of what stands again. */
  #bytes = 0;
  /** Of what stands again. */
  #weight = 0;

  constructor({ archive, loading, history }: ReferenceOptions) {
    this.#archive = archive;
    this.#loading = loading;
    for (const item of history) this.#note(item, true);
  }

  async resolve(input: readonly Json[]): Promise<readonly Json[]> {
    const items: Json[] = [];
    for (const [at, item] of input.entries()) {
      const id = referredBy(item);
      if (id === undefined) {
        items.push(item);
        continue;
      }
      const responseId = this.#known.has(id) ? undefined : responseIdOf(id);
      if (responseId !== undefined && !this.#found.has(responseId))
        await this.#load(responseId, at);
      const known = this.#known.get(id);
      if (known === undefined)
        throw fieldError(
          `input[${at}].id`,
          "is not the id of an item of a stored response. Send the item itself",
        );
      if (known.isThere) await this.#repeat(known, at);
      known.isThere = true;
      items.push(known.item);
    }
    return items;
  }

  async #load(responseId: string, at: number): Promise<void> {
    if (this.#found.size >= maxResponses) throw tooMuch(at);
    this.#found.add(responseId);
    const { accountId, weight } = this.#loading;
    const hold = (sizeBytes: number) => this.#hold(sizeBytes, at);
    const loading = { accountId, weight, hold, tooHeavy: () => tooMuch(at) };
    const items = await this.#archive.items(responseId, loading).catch(notThere);
    for (const item of items ?? []) this.#note(item, false);
  }

  async #repeat(known: Known, at: number): Promise<void> {
    known.size ??= await this.#measure(known.item);
    const { bytes, weight } = known.size;
    this.#weight += weight;
    if (this.#weight + this.#loading.weight.total > maxJsonWeight) throw tooMuch(at);
    this.#hold(bytes, at);
  }

  async #measure(item: JsonObject): Promise<Size> {
    const text = JSON.stringify(item);
    if (text.length > smallChars) await nextTurn();
    const bytes = Buffer.from(text);
    const weight = new JsonWeight();
    weight.add(bytes);
    if (text.length > smallChars) await nextTurn();
    return { bytes: bytes.length, weight: weight.total };
  }

  #hold(sizeBytes: number, at: number): void {
    this.#bytes += sizeBytes;
    if (this.#bytes > maxBytes) throw tooMuch(at);
    this.#loading.hold(sizeBytes);
  }

  #note(item: JsonObject, isThere: boolean): void {
    if (typeof item["id"] === "string") this.#known.set(item["id"], { item, isThere });
  }
}

const tooMuch = (at: number) =>
  fieldError(`input[${at}].id`, "refers to too much. Send the items themselves");

/** One that is not there has no items; any other failure is one. */
function notThere(thrown: unknown): undefined {
  if (!(thrown instanceof ApiError && thrown.code === "response_not_found")) throw thrown;
}

function referredBy(item: Json): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { type, role, id } = item;
  const isReference = type === "item_reference" || (type === undefined && role === undefined);
  return isReference && typeof id === "string" ? id : undefined;
}
