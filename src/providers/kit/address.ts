import { isIP } from "node:net";

/**
 * What is wrong with an upstream's address, if anything. Private and loopback addresses need the
 * operator's word; link-local ones, where clouds keep their credentials, are never called.
 */
export function addressProblem(baseUrl: string, allowPrivate: boolean): string | undefined {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    return "must be an address such as https://api.example/v1";
  }
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return "must begin with https:// or http://";
  if (url.username !== "" || url.password !== "")
    return "must not hold a user name or password: use api_key";
  if (url.search !== "" || url.hash !== "") return "must not hold a query or a fragment";
  const place = placeOf(url.hostname.replace(/^\[|\]$/g, "").toLowerCase());
  if (place === "link-local") return "is a link-local address, which is never called";
  if (place === "private" && !allowPrivate)
    return "is a private or loopback address: add allow_private: true if you mean it";
  return undefined;
}

function placeOf(host: string): "link-local" | "private" | "public" {
  const kind = isIP(host);
  if (kind === 0) return /^(.*\.)?localhost\.?$/.test(host) ? "private" : "public";
  if (kind === 4) return placeOfIpv4(host.split(".").map(Number));
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (mapped !== null) {
    const [high, low] = [
      Number.parseInt(mapped[1] ?? "0", 16),
      Number.parseInt(mapped[2] ?? "0", 16),
    ];
    return placeOfIpv4([high >> 8, high & 255, low >> 8, low & 255]);
  }
  if (/^fe[89ab]/.test(host)) return "link-local";
  return host === "::1" || host === "::" || /^f[cd]/.test(host) ? "private" : "public";
}

function placeOfIpv4([first = 0, second = 0]: readonly number[]):
  | "link-local"
  | "private"
  | "public" {
  if (first === 169 && second === 254) return "link-local";
  const isPrivate =
    first === 0 ||
    first === 10 ||
    first === 127 ||
    first >= 224 ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 192 && second === 168) ||
    (first === 100 && second >= 64 && second <= 127);
  return isPrivate ? "private" : "public";
}
