import { ApiError } from "../../../base/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { StoredResponse } from "../../../responses/response.ts";
import type { StoredResponses } from "../../../responses/stored-responses.ts";
import { responseIdOf } from "../../../wire/v1/responses/output-items.ts";
import { fieldError } from "../../../wire/v1/validate.ts";

/** Responses that one request can refer to. Each is read from the database. */
const maxResponses = 100;
const maxBytes = 16 * 1024 * 1024;

export interface ReferenceOptions {
  readonly accountId: string;
  readonly archive: Pick<StoredResponses, "find">;
  /** Items of the conversation that the request continues. */
  readonly history: readonly JsonObject[];
}

/** Replaces references by the items that they refer to. */
export async function resolveReferences(
  input: readonly Json[],
  { accountId, archive, history }: ReferenceOptions,
): Promise<readonly Json[]> {
  const known = new Map<string, JsonObject>();
  for (const item of history) note(known, item);
  const found = new Set<string>();
  const sizes = new Map<string, number>();
  /** Read from the database, and put in place of references: many can refer to one item. */
  let bytes = 0;
  const items: Json[] = [];
  for (const [at, item] of input.entries()) {
    const id = referencedId(item);
    if (id === undefined) {
      items.push(item);
      continue;
    }
    const responseId = known.has(id) ? undefined : responseIdOf(id);
    if (responseId !== undefined && !found.has(responseId)) {
      if (found.size >= maxResponses || bytes > maxBytes) throw tooMuch(at);
      found.add(responseId);
      const response = await archive.find(accountId, responseId).catch(asMissing);
      for (const one of itemsOf(response)) {
        bytes += JSON.stringify(one).length;
        note(known, one);
      }
    }
    const referenced = known.get(id);
    if (referenced === undefined)
      throw fieldError(
        `input[${at}].id`,
        "is not the id of an item of a stored response. Send the item itself",
      );
    const size = sizes.get(id) ?? JSON.stringify(referenced).length;
    sizes.set(id, size);
    bytes += size;
    if (bytes > 2 * maxBytes) throw tooMuch(at);
    items.push(referenced);
  }
  return items;
}

const tooMuch = (at: number) =>
  fieldError(`input[${at}].id`, "refers to too much. Send the items themselves");

/** A response that does not exist has no items; other failures are passed on. */
function asMissing(thrown: unknown): undefined {
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

function referencedId(item: Json): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { type, role, id } = item;
  const isReference = type === "item_reference" || (type === undefined && role === undefined);
  return isReference && typeof id === "string" ? id : undefined;
}
