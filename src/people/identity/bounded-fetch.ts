import type { CustomFetch } from "openid-client";

const mostBytes = 512 * 1024;

class ReplyTooLarge extends Error {}

/** Sends a request to the provider. Redirects are not followed, and the size of a reply is limited. */
export const boundedFetch: CustomFetch = async (url, { body, signal, ...init }) => {
  const response = await fetch(url, {
    ...init,
    redirect: "manual",
    // The library sends forms alone.
    body: body instanceof URLSearchParams ? body : null,
    ...(signal === undefined ? {} : { signal }),
  });
  const { status, headers } = response;
  if (response.body === null) return response;
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of response.body) {
    total += piece.length;
    if (total > mostBytes) throw new ReplyTooLarge(`more than ${mostBytes} bytes from ${url}`);
    pieces.push(piece);
  }
  const kept = new Headers(headers);
  kept.delete("content-encoding");
  kept.delete("content-length");
  return new Response(Buffer.concat(pieces), { status, headers: kept });
};
