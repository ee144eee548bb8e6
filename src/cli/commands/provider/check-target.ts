import { Problem } from "../../../base/problem.ts";
import { findVendor, vendors } from "../../../catalog/vendors.ts";
import { closest } from "../../../config/suggestion.ts";
import type { Invocation, Wiring } from "../../command.ts";

/** Without an address, the word must be a vendor, so that a similar one was probably meant. */
export function checkVendor(word: string, flags: Invocation["flags"]): void {
  const isOwnServer = flags["base-url"] !== undefined || flags["kind"] !== undefined;
  if (isOwnServer || findVendor(word) !== undefined) return;
  const similar = closest(
    word,
    vendors.map(({ id }) => id),
  );
  if (similar !== undefined)
    throw new Problem({
      code: "invalid",
      message: `Unknown vendor "${word}". Did you mean "${similar}"?`,
      command: "provider add --help",
    });
}

/** A server's usual port can be the gateway's, which would then call itself. */
export async function checkOtherServer(baseUrl: string, wiring: Wiring): Promise<void> {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !isLoopback(url)) return;
  const own = await wiring
    .withOperations((operations) => operations.gateway.show({}))
    // No gateway runs.
    .catch(() => undefined);
  if (own === undefined) return;
  const ownUrl = new URL(own.base_url);
  if (isLoopback(ownUrl) && ownUrl.port === url.port)
    throw new Problem({
      code: "invalid",
      field: "base_url",
      message: `${url.host} is this gateway. Start the server on another port and pass --base-url.`,
    });
}

const isLoopback = ({ hostname }: URL) => /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
