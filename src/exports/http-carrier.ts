import { createHmac } from "node:crypto";
import { type Carrier, type Part, sha256 } from "./delivery.ts";
import type { HttpTarget } from "./destination.ts";
import { type Call, send } from "./http-call.ts";

export interface HttpSecrets {
  /** The whole header. */
  readonly authorization: string | undefined;
  readonly signing: string | undefined;
}

/** Posts batches of JSON lines. The same rows have the same Idempotency-Key. */
export function httpCarrier(
  { url }: HttpTarget,
  { authorization, signing }: HttpSecrets,
  call: Call,
): Carrier {
  const post = (
    body: Part["body"],
    id: string,
    more: Record<string, string>,
    signal: AbortSignal,
  ) =>
    send(call, url, {
      method: "POST",
      headers: {
        "content-type": "application/x-ndjson",
        "user-agent": "svc-gateway",
        "idempotency-key": id,
        ...more,
        ...(authorization === undefined ? {} : { authorization }),
        ...(signing === undefined ? {} : signatureOf(signing, id, body)),
      },
      body,
      signal,
    });
  return {
    mostRows: 500,
    mostBytes: 1024 * 1024,
    packs: false,
    async deliver(part, signal) {
      const { stream, hourMs, number, rows, body } = part;
      const hour = new Date(hourMs).toISOString().slice(0, 13);
      const digest = sha256(body).slice(0, 32);
      const more = {
        "svc-export-stream": stream,
        "svc-export-hour": `${hour}:00:00Z`,
        "svc-export-part": String(number),
        "svc-export-rows": String(rows),
      };
      await post(body, `${stream}-${hour}-${number}-${digest}`, more, signal);
      return undefined;
    },
    async test(signal) {
      const more = { "svc-export-stream": "test", "svc-export-rows": "0" };
      await post(new Uint8Array(), `test-${Date.now()}`, more, signal);
    },
  };
}

/** As the Standard Webhooks specification has it, so that its libraries can check it. */
function signatureOf(secret: string, id: string, body: Uint8Array): Record<string, string> {
  const seconds = String(Math.floor(Date.now() / 1000));
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : secret;
  const signed = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body);
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${signed.digest("base64")}`,
  };
}
