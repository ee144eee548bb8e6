import { readNetwork } from "../base/network/client-address.ts";

/** What a setting must be, where its text is something else. */
export class Wrong {
  readonly expected: string;
  constructor(expected: string) {
    this.expected = expected;
  }
}

export function host(text: string): string | Wrong {
  return /^[A-Za-z0-9.:_-]+$/.test(text)
    ? text
    : new Wrong("a host name or address without scheme or port, such as 127.0.0.1 or 0.0.0.0");
}

function origin(text: string): string | undefined {
  if (text === "*") return text;
  try {
    const url = new URL(text);
    return url.origin === text.toLowerCase() && /^https?:$/.test(url.protocol)
      ? url.origin
      : undefined;
  } catch {
    return undefined;
  }
}

export function origins(text: string): readonly string[] | Wrong {
  const words = text.split(",").map((word) => word.trim());
  const read = words.filter((word) => word !== "").map(origin);
  const known = read.filter((value) => value !== undefined);
  if (known.length === read.length) return known;
  return new Wrong("origins such as https://app.example, separated by commas, or *");
}

export function publicUrl(text: string): string | Wrong {
  const wrong = new Wrong("the address callers use, such as https://models.example (without /v1)");
  try {
    const url = new URL(text);
    if (!/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") return wrong;
    if (url.username !== "" || url.password !== "") return wrong;
    return url.href.replace(/\/+$/, "").replace(/\/v1$/, "");
  } catch {
    return wrong;
  }
}

/** An origin: the console and its API lie at its root. */
export function platformUrl(text: string): string | Wrong {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url !== undefined &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.href === `${url.origin}/`;
  return isOrigin
    ? url.origin
    : new Wrong("an address without a path, such as https://console.example.com");
}

/** None by default, because any client could claim any address. */
export function proxies(text: string): readonly string[] | Wrong {
  const words = text.split(",").map((word) => word.trim());
  const named = words.filter((word) => word !== "");
  if (named.every((word) => readNetwork(word) !== undefined)) return named;
  return new Wrong(
    "addresses or networks such as 127.0.0.1, 10.0.0.0/8 or fd00::/8, separated by commas",
  );
}
