import { isIP } from "node:net";

export type Place = "public" | "private" | "link-local" | "metadata";

/**
 * What is wrong with an upstream's address, if anything. Private and loopback addresses need the
 * operator's word; link-local ones, and those where clouds keep their credentials, are never called.
 */
export function addressProblem(baseUrl: string, allowPrivate: boolean): string | undefined {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    return "must be a URL such as https://api.example/v1";
  }
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return "must start with https:// or http://";
  if (url.username !== "" || url.password !== "")
    return "must not contain a user name or password. Use api_key";
  if (url.search !== "" || url.hash !== "") return "must not contain a query or a fragment";
  const host = hostOf(url);
  const place = isIP(host) === 0 ? placeOfName(host) : placeOf(host);
  return placeProblem(place, allowPrivate);
}

/** Without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

export function placeProblem(place: Place, allowPrivate: boolean): string | undefined {
  switch (place) {
    case "public":
      return undefined;
    case "private":
      return allowPrivate
        ? undefined
        : "is a private or loopback address. Set allow_private to use it";
    case "link-local":
      return "is a link-local address, which is not allowed";
    case "metadata":
      return "is a cloud metadata address, which is not allowed";
    default:
      return place satisfies never;
  }
}

function placeOfName(name: string): Place {
  if (/^metadata(\.google\.internal)?\.?$/.test(name)) return "metadata";
  return /^(.*\.)?localhost\.?$/.test(name) ? "private" : "public";
}

/** Where an IP address lies. Forms of IPv6 that carry an IPv4 address lie where that lies. */
export function placeOf(ip: string): Place {
  const plain = ip.split("%")[0] ?? ip;
  if (isIP(plain) === 4) return placeOfIpv4(plain.split(".").map(Number));
  const groups = toGroups(plain);
  const [first = 0, second = 0, third = 0] = groups;
  const carried = carriedIpv4(groups);
  if (carried !== undefined) return placeOfIpv4(carried);
  if ((first & 0xffc0) === 0xfe80) return "link-local";
  if (metadataIpv6.includes(groups.join(":"))) return "metadata";
  const isUnique = (first & 0xfe00) === 0xfc00;
  const isSite = (first & 0xffc0) === 0xfec0;
  const isMulticast = (first & 0xff00) === 0xff00;
  const isLocalNat64 = first === 0x64 && second === 0xff9b && third === 1;
  if (isLocalNat64) {
    const inner = placeOfIpv4(lastBytes(groups));
    return inner === "public" ? "private" : inner;
  }
  const isTeredo = first === 0x2001 && second === 0;
  const isLoopback = groups.slice(0, 7).every((group) => group === 0) && (groups[7] ?? 0) <= 1;
  return isUnique || isSite || isMulticast || isTeredo || isLoopback ? "private" : "public";
}

/** IPv4-mapped, IPv4-translated, NAT64, 6to4 and the old IPv4-compatible form. */
function carriedIpv4(groups: readonly number[]): readonly number[] | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = groups;
  const [seventh = 0, eighth = 0] = groups.slice(6);
  const bytes = (high: number, low: number) => [high >> 8, high & 255, low >> 8, low & 255];
  const startsEmpty = first + second + third + fourth === 0;
  const isMapped = startsEmpty && fifth === 0 && sixth === 0xffff;
  const isTranslated = startsEmpty && fifth === 0xffff && sixth === 0;
  const isCompatible = startsEmpty && fifth + sixth === 0 && seventh !== 0;
  const isNat64 = first === 0x64 && second === 0xff9b && third + fourth + fifth + sixth === 0;
  if (isMapped || isTranslated || isCompatible || isNat64) return bytes(seventh, eighth);
  return first === 0x2002 ? bytes(second, third) : undefined;
}

function toGroups(ip: string): readonly number[] {
  // The URL parser writes every spelling of an IPv6 address in the one short form.
  const short = new URL(`http://[${ip}]/`).hostname.slice(1, -1);
  const [head = "", tail] = short.split("::");
  const read = (text: string) =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const left = read(head);
  const right = read(tail ?? "");
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

const lastBytes = (groups: readonly number[]) => {
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255];
};

/** As groups of decimal numbers: fd00:ec2::254, fd00:ec2::23 (pods of EKS) and fd20:ce::254. */
const metadataIpv6 = [
  "64768:3778:0:0:0:0:0:596",
  "64768:3778:0:0:0:0:0:35",
  "64800:206:0:0:0:0:0:596",
];
const metadataIpv4 = ["100.100.100.200", "168.63.129.16", "192.0.0.192"];

function placeOfIpv4(bytes: readonly number[]): Place {
  const [first = 0, second = 0, third = 0] = bytes;
  if (metadataIpv4.includes(bytes.join("."))) return "metadata";
  if (first === 169 && second === 254) return "link-local";
  const isPrivate =
    first === 0 ||
    first === 10 ||
    first === 127 ||
    first >= 224 ||
    (first === 172 && second >= 16 && second <= 31) ||
    (first === 192 && second === 168) ||
    (first === 192 && second === 0 && third === 0) ||
    (first === 198 && (second === 18 || second === 19)) ||
    (first === 100 && second >= 64 && second <= 127);
  return isPrivate ? "private" : "public";
}
