import { BlockList, isIP } from "node:net";

const near = new BlockList();
near.addSubnet("0.0.0.0", 8);
near.addSubnet("10.0.0.0", 8);
near.addSubnet("100.64.0.0", 10);
near.addSubnet("127.0.0.0", 8);
near.addSubnet("172.16.0.0", 12);
near.addSubnet("192.168.0.0", 16);
near.addSubnet("fc00::", 7, "ipv6");
near.addAddress("::1", "ipv6");

/**
 * Whether an address looks like the operator's own network: it then needs allow_private. Names
 * without a dot are those of containers.
 */
export function looksPrivate(baseUrl: string): boolean {
  const host = hostOf(baseUrl);
  const family = isIP(host);
  if (family !== 0) return near.check(host, family === 6 ? "ipv6" : "ipv4");
  return !host.includes(".") || /\.(localhost|local|lan|internal|home|svc|test)$/.test(host);
}

export function hostOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return "";
  return new URL(baseUrl).hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

/** A name of that address for people: its host, and its port where the host alone says little. */
export function addressName(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return "";
  const { port } = new URL(baseUrl);
  const host = hostOf(baseUrl).replace(/^(api|www)\./, "");
  const isVague = isIP(host) !== 0 || /^(localhost|host\.docker\.internal)$/.test(host);
  return toName(isVague && port !== "" ? `${host}-${port}` : host);
}

/** Letters, digits and - only, as names of providers have them. */
export function toName(text: string): string {
  return text
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase()
    .slice(0, 50);
}

export function withPath(baseUrl: string, path: string): string {
  const plain = baseUrl.replace(/\/+$/, "");
  return plain.endsWith(path) ? plain : `${plain}${path}`;
}
