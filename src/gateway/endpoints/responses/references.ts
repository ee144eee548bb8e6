import { ApiError } from "../../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { StoredResponse } from "../../../responses/response.ts";
import type { StoredResponses } from "../../../responses/stored-responses.ts";
import { responseIdOf } from "../../../wire/v1/responses/output-items.ts";
import { fieldError } from "../../../wire/v1/validate.ts";

/** Of one request. Each is read from the database, and a conversation rarely has so many. */
const maxResponses = 100;
const maxBytes = 16 * 1024 * 1024;

export interface ReferenceOptions {
  readonly accountId: string;
  readonly archive: Pick<StoredResponses, "find">;
  /** Items of the conversation that the request continues. */
  readonly history: readonly JsonObject[];
}

/** The items that references stand for, in their places. */
export async function resolveReferences(
  input: readonly Json[],
  { accountId, archive, history }: ReferenceOptions,
): Promise<readonly Json[]> {
  const known = new Map<string, JsonObject>();
  for (const item of history) note(known, item);
  const found = new Set<string>();
  const sizes = new Map<string, number>();
  /** Of what was read, and of what was put in the place of references: one item may stand often. */
  let bytes = 0;
  const items: Json[] = [];
  for (const [at, item] of input.entries()) {
    const id = referredBy(item);
    if (id === undefined) {
      items.push(item);
      continue;
    }
    const responseId = known.has(id) ? undefined : responseIdOf(id);
    if (responseId !== undefined && !found.has(responseId)) {
      if (found.size >= maxResponses || bytes > maxBytes) throw tooMuch(at);
      found.add(responseId);
      const response = await archive.find(accountId, responseId).catch(notThere);
      for (const one of itemsOf(response)) {
        bytes += JSON.stringify(one).length;
        note(known, one);
      }
    }
    const meant = known.get(id);
    if (meant === undefined)
      throw fieldError(
        `input[${at}].id`,
        "is not the id of an item of a stored response. Send the item itself",
      );
    const size = sizes.get(id) ?? JSON.stringify(meant).length;
    sizes.set(id, size);
    bytes += size;
    if (bytes > 2 * maxBytes) throw tooMuch(at);
    items.push(meant);
  }
  return items;
}

const tooMuch = (at: number) =>
  fieldError(`input[${at}].id`, "refers to too much. Send the items themselves");

/** One that is not there has no items; any other failure is one. */
function notThere(thrown: unknown): undefined {
  if (!(thrown instanceof ApiError && thrown.code === "response_not_found")) throw thrown;
}

function itemsOf(response: StoredResponse | undefined): readonly JsonObject[] {
  if (response === undefined) return [];
  const { output } = response.reply;
  return [...response.input, ...(Array.isArray(output) ? output.filter(isJsonObject) : [])];
}

function note(known: Map<string, JsonObject>, item: JsonObject): void {
  if (typeof item["id"] === "string") known.set(item["id"], item);
}

function referredBy(item: Json): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { type, role, id } = item;
  const isReference = type === "item_reference" || (type === undefined && role === undefined);
  return isReference && typeof id === "string" ? id : undefined;
}
