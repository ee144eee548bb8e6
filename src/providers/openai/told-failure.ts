import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import { toldStatus } from "../kit/error-body.ts";
import { toApiFailure } from "../kit/failure.ts";

/** Throws where an upstream tells of a failure inside a reply whose status was 200. */
export function throwTold({ error }: JsonObject, provider: string): void {
  if (error === undefined || error === null) return;
  throw toApiFailure({
    provider,
    status: toldStatus(isJsonObject(error) ? error : {}),
    body: { error },
  });
}
