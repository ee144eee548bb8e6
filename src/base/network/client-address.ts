import { BlockList, isIP } from "node:net";

/** Servers in front of us whose word about where a request comes from is taken. */
export interface TrustedProxies {
  has(address: string): boolean;
}

interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** Proxies in a row; what a header names beyond them is not looked at. */
const mostHops = 16;

/**
 * An address, or a network such as 10.0.0.0/8; undefined for anything else. A prefix of 0 is
 * refused: every caller could then claim any address.
 */
export function readNetwork(text: string): Network | undefined {
  const [, address = "", bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const most = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (prefix < 1 || prefix > most) return undefined;
  return { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

/** By texts that `readNetwork` reads; others trust nobody. */
export function trustedProxies(networks: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const text of networks) {
    const network = readNetwork(text);
    if (network !== undefined) list.addSubnet(network.address, network.prefix, network.family);
  }
  return {
    has(address) {
      const version = isIP(address);
      return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
    },
  };
}

/**
 * Where a request comes from. Each proxy adds the address that connected to it at the right of
 * X-Forwarded-For, so the header is read from there, only as long as trusted proxies wrote it: the
 * right-most address that is not one of them is the client. What is left of it can be made up.
 */
export function clientAddress(options: {
  /** The address that connected to us. */
  readonly peer: string;
  /** X-Forwarded-For, if it was sent; several of them joined by commas. */
  readonly forwardedFor: string | null;
  readonly trusted: TrustedProxies;
}): string {
  const { peer, forwardedFor, trusted } = options;
  let client = toPlain(peer);
  if (forwardedFor === null || !trusted.has(client)) return client;
  let end = forwardedFor.length;
  for (let hop = 0; hop < mostHops && end >= 0; hop++) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(",", end - 1);
    const address = addressIn(forwardedFor.slice(comma + 1, end));
    // No proxy wrote this: what is known for sure is who passed it on.
    if (address === undefined) return client;
    client = address;
    if (!trusted.has(client)) return client;
    end = comma;
  }
  return client;
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressIn(text: string): string | undefined {
  const word = text.trim();
  const bare = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(word);
  const address = toPlain(bare?.[1] ?? bare?.[2] ?? word);
  return isIP(address) === 0 ? undefined : address;
}

/** An IPv4 address stays one where it came over an IPv6 socket; a zone means nothing elsewhere. */
function toPlain(address: string): string {
  const [bare = ""] = address.split("%", 1);
  return /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare;
}
