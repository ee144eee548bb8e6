import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { ApiError } from "../base/errors.ts";
import type { JsonObject } from "../call/chat.ts";
import type { Journal } from "../ledger/journal.ts";
import type { Claim, LedgerStore } from "../ledger/store.ts";
import { orUnavailable, storeUnavailable } from "./billing/refusals.ts";

export interface Reply {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

export interface StoredReply {
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly requestId: string;
}

/** For so long a reply is kept, and a key means its first request. */
export const keptMs = 24 * 3_600_000;
export const maxReplyBytes = 1_000_000;
/** An account that would keep more has its further replies not kept, until a day has passed. */
const maxKeptBytes = 64 * 1024 * 1024;
const keyText = /^[\x21-\x7e]{1,255}$/;

export interface IdempotencyOptions {
  readonly ledger: Pick<LedgerStore, "findClaim">;
  readonly journal: Journal;
}

export interface IdempotentRequest {
  /** The caller's own API key: what is kept can be read with it alone. */
  readonly secret: string;
  /** Of the key whichever secret opens it: a request is made once, also across a rotation. */
  readonly claimKey: string;
  readonly accountId: string;
  readonly header: string;
  readonly path: string;
  readonly body: JsonObject;
  /** Of a large body: a hash of its bytes, so that it need not be written out again. */
  readonly bytesHash: string | undefined;
  readonly requestId: string;
  readonly nowMs: number;
}

interface Running {
  readonly bodyHash: string;
  readonly requestId: string;
  readonly sinceMs: number;
  claim?: OpenClaim;
}

/**
 * Requests with an Idempotency-Key. A claim is made durable before an upstream is called; the
 * receipt and the reply replace it in one commit; a failure takes it away. Claims of a process
 * that died are taken away at the next start: its calls cost nothing.
 */
export class Idempotency {
  readonly #options: IdempotencyOptions;
  /** By the claim's id: what this process has under way. */
  readonly #running = new Map<string, Running>();

  /** By account: what was kept since a moment, a day ago at most. */
  readonly #kept = new Map<string, { bytes: number; sinceMs: number }>();

  constructor(options: IdempotencyOptions) {
    this.#options = options;
  }

  /** The reply that is kept, or a claim for a request that is new; else a 409 is thrown. */
  async open(request: IdempotentRequest): Promise<StoredReply | OpenClaim> {
    const { secret, claimKey, header, path, body, bytesHash, requestId, nowMs } = request;
    if (!keyText.test(header))
      throw new ApiError({
        code: "invalid_request",
        param: "Idempotency-Key",
        message: "Idempotency-Key must be 1 to 255 visible ASCII characters without spaces.",
      });
    const id = createHmac("sha256", claimKey).update(`claim ${header}`).digest("hex");
    // Keyed by what is kept nowhere: who has the file cannot try out what the body may have been.
    const bodyHash = createHmac("sha256", secret)
      .update(`body ${path}\n${bytesHash ?? JSON.stringify(body)}`)
      .digest("hex");
    // One that is about to end is waited for. Of all who wait, one goes on: nothing is awaited
    // between the look that finds the key free and the line that takes it.
    for (;;) {
      const other = this.#running.get(id);
      if (other === undefined) break;
      const ended = other.claim?.ended;
      if (ended === undefined)
        throw refusal({ isDone: false, ...other }, bodyHash, nowMs - other.sinceMs);
      await ended;
      if (this.#options.journal.isFailing) throw storeUnavailable();
    }
    const running: Running = { bodyHash, requestId, sinceMs: nowMs };
    this.#running.set(id, running);
    try {
      const stored = await orUnavailable(this.#options.ledger.findClaim(id));
      if (stored === undefined || stored.expiresAtMs <= nowMs)
        return (running.claim = new OpenClaim({
          claim: { id, bodyHash, requestId, expiresAtMs: nowMs + keptMs },
          secret,
          mayKeep: (sizeBytes) => this.#mayKeep(request, sizeBytes),
          journal: this.#options.journal,
          onClose: () => this.#running.delete(id),
        }));
      if (stored.bodyHash !== bodyHash || stored.reply === undefined)
        throw refusal(stored, bodyHash);
      this.#running.delete(id);
      return { ...openReply(stored.reply, secret, id), requestId: stored.requestId };
    } catch (error) {
      this.#running.delete(id);
      throw error;
    }
  }

  /** The part of the disk that one account may fill has a bound. */
  #mayKeep({ accountId, nowMs }: IdempotentRequest, sizeBytes: number): boolean {
    const known = this.#kept.get(accountId);
    const isFresh = known === undefined || nowMs - known.sinceMs >= keptMs;
    const kept = isFresh ? { bytes: 0, sinceMs: nowMs } : known;
    if (kept.bytes + sizeBytes > maxKeptBytes) return false;
    kept.bytes += sizeBytes;
    this.#kept.set(accountId, kept);
    return true;
  }
}

export interface OpenClaimOptions {
  readonly claim: Pick<Claim, "id" | "bodyHash" | "requestId" | "expiresAtMs">;
  readonly secret: string;
  readonly mayKeep: (sizeBytes: number) => boolean;
  readonly journal: Journal;
  readonly onClose: () => void;
}

/** One request's hold on its Idempotency-Key. */
export class OpenClaim {
  readonly #options: OpenClaimOptions;
  #isPersisted = false;
  #isDone = false;
  #isClosed = false;
  #end: PromiseWithResolvers<void> | undefined;

  constructor(options: OpenClaimOptions) {
    this.#options = options;
  }

  /** When its key is free or its reply kept; undefined while that is not near. */
  get ended(): Promise<void> | undefined {
    return this.#end?.promise;
  }

  /** The caller may hear of the end before it is written: who then comes again waits for it. */
  ending(): void {
    this.#end ??= Promise.withResolvers();
  }

  /** Before an upstream is called. */
  async persist(): Promise<void> {
    const { claim, journal } = this.#options;
    this.#isPersisted = true;
    await journal.append(
      { type: "claim", claim: { ...claim, isDone: false, reply: undefined } },
      true,
    );
  }

  /** What to write together with the receipt. */
  done(reply: Reply | undefined): Claim {
    const { claim, secret, mayKeep } = this.#options;
    this.#isDone = true;
    const sizeBytes = reply === undefined ? 0 : sizeOf(reply.body);
    const isKept = reply !== undefined && sizeBytes <= maxReplyBytes && mayKeep(sizeBytes);
    return {
      ...claim,
      isDone: true,
      reply: isKept ? sealReply(reply, secret, claim.id) : undefined,
    };
  }

  /** What was done could not be written: it never was. */
  reopen(): void {
    this.#isDone = false;
  }

  /** The request is over; unless it is done, its key may be used again. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { claim, journal, onClose } = this.#options;
    const over = () => {
      onClose();
      this.#end?.resolve();
    };
    if (!this.#isPersisted || this.#isDone) return over();
    this.ending();
    journal.append({ type: "claim-release", id: claim.id }).then(over, over);
  }
}

/** Who waits for as long as the first request has run comes back a few times, not all the time. */
const longestWaitMs = 10_000;

function refusal(
  first: Pick<Claim, "isDone" | "bodyHash" | "requestId">,
  bodyHash: string,
  ranMs = 0,
): ApiError {
  const { requestId: firstRequestId } = first;
  if (first.bodyHash !== bodyHash)
    return new ApiError({
      code: "idempotency_key_reused",
      message: `This Idempotency-Key was already used for a different request (${firstRequestId}) or with an earlier secret of this API key. Use a new Idempotency-Key for a new request.`,
      firstRequestId,
    });
  if (!first.isDone)
    return new ApiError({
      code: "idempotency_in_progress",
      message: `The first request with this Idempotency-Key (${firstRequestId}) is still in progress. Try again in a moment.`,
      retryAfterMs: Math.min(longestWaitMs, Math.max(1_000, ranMs)),
      firstRequestId,
    });
  return new ApiError({
    code: "idempotency_reply_not_kept",
    message: `The first request with this Idempotency-Key (${firstRequestId}) completed and was billed, but its reply was streamed or too large to store. Use a new Idempotency-Key to send the request again.`,
    firstRequestId,
  });
}

/** Another gateway got the same key a moment ago: who tries again finds what became of it. */
export function claimedElsewhere(): ApiError {
  return new ApiError({
    code: "idempotency_in_progress",
    message:
      "Another request with this Idempotency-Key was accepted a moment ago. Try again in a moment.",
    retryAfterMs: 1_000,
  });
}

const sizeOf = (body: string | Uint8Array) =>
  typeof body === "string" ? Buffer.byteLength(body) : body.length;

/** AES-256-GCM under a key that only the caller's own API key gives, bound to the claim. */
function sealReply({ contentType, body }: Reply, secret: string, id: string): Uint8Array {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", replyKey(secret), nonce).setAAD(Buffer.from(id));
  const text = Buffer.concat([Buffer.from(`${contentType}\n`), Buffer.from(body)]);
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function openReply(
  sealed: Uint8Array,
  secret: string,
  id: string,
): Pick<StoredReply, "contentType" | "body"> {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv("aes-256-gcm", replyKey(secret), bytes.subarray(0, 12))
    .setAAD(Buffer.from(id))
    .setAuthTag(bytes.subarray(12, 28));
  const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
  const end = text.indexOf(10);
  return {
    contentType: text.subarray(0, end).toString(),
    body: new Uint8Array(text.subarray(end + 1)),
  };
}

function replyKey(secret: string): Buffer {
  return createHmac("sha256", secret).update("idempotent replies v1").digest();
}
