import { createHmac } from "node:crypto";
import { type Carrier, type Part, sha256 } from "./delivery.ts";
import { DeliveryFailure } from "./delivery-failure.ts";
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
  const key = signing === undefined ? undefined : signingKey(signing);
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
        ...(key === undefined ? {} : signatureOf(key, id, body)),
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
function signatureOf(key: string | Buffer, id: string, body: Uint8Array): Record<string, string> {
  const seconds = String(Math.floor(Date.now() / 1000));
  const signed = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body);
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${signed.digest("base64")}`,
  };
}

/** As the specification asks for; shorter ones are mistakes, such as a key that is not base64. */
const fewestKeyBytes = 24;

function signingKey(secret: string): string | Buffer {
  if (!secret.startsWith("whsec_")) return secret;
  const text = secret.slice("whsec_".length);
  const key = Buffer.from(text, "base64");
  const isBase64 = key.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "");
  if (isBase64 && key.length >= fewestKeyBytes) return key;
  throw new DeliveryFailure(
    `sign_with must be a key of at least ${fewestKeyBytes} bytes in base64 behind whsec_`,
    { isFinal: true },
  );
}
