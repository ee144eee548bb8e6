import type { CustomFetch } from "openid-client";

const mostBytes = 512 * 1024;

class ReplyTooLarge extends Error {}
class ReplyCompressed extends Error {}

/**
 * Sends a request to the provider. Redirects are not followed, and the size of a reply is limited. The
 * runtime would unpack 300 kB to 300 MB in one piece, so a reply must not be compressed.
 */
export const boundedFetch: CustomFetch = async (url, { body, signal, headers: given, ...init }) => {
  const response = await fetch(url, {
    ...init,
    headers: { ...given, "accept-encoding": "identity" },
    decompress: false,
    redirect: "manual",
    // The library sends forms alone.
    body: body instanceof URLSearchParams ? body : null,
    ...(signal === undefined ? {} : { signal }),
  });
  const { status, headers } = response;
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") {
    await response.body?.cancel();
    throw new ReplyCompressed(`a compressed reply (${encoding.slice(0, 40)}) from ${url}`);
  }
  if (response.body === null) return response;
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of response.body) {
    total += piece.length;
    if (total > mostBytes) throw new ReplyTooLarge(`more than ${mostBytes} bytes from ${url}`);
    pieces.push(piece);
  }
  const kept = new Headers(headers);
  kept.delete("content-length");
  return new Response(Buffer.concat(pieces), { status, headers: kept });
};
