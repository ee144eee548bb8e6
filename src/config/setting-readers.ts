import { availableParallelism } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { readNetwork } from "../base/network/client-address.ts";
import { readSmtpUrl } from "../base/network/smtp-url.ts";
import { baseDir } from "../base/place.ts";
import { readMailbox } from "../base/text/mailbox.ts";
import { withoutPassword } from "../base/text/passwords.ts";

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

/** With user and password, percent-encoded. */
export function smtpUrl(text: string): string | Wrong {
  return readSmtpUrl(text) === undefined
    ? new Wrong(
        "smtps://USER:PASSWORD@HOST or smtp://USER:PASSWORD@HOST:587, with user and password percent-encoded",
      )
    : text;
}

export function mailbox(text: string): string | Wrong {
  return readMailbox(text) === undefined
    ? new Wrong("one address, such as no-reply@example.com or Models <no-reply@example.com>")
    : text;
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

export function oneOf<const T extends string>(...words: readonly T[]) {
  return (text: string): T | Wrong =>
    words.find((word) => word === text) ?? new Wrong(`one of: ${words.join(", ")}`);
}

/** YAML and many environments have true and false for it. */
export function onOff(text: string): "on" | "off" | Wrong {
  if (text === "on" || text === "true") return "on";
  return text === "off" || text === "false" ? "off" : new Wrong("on or off");
}

export function port(text: string): number | Wrong {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return value <= 65_535 ? value : new Wrong("a port number from 0 to 65535 (0 for any free port)");
}

export function seconds(text: string): number | Wrong {
  const value = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  return value > 0 ? Math.round(value * 1000) : new Wrong("a number of seconds above 0");
}

/** Up to a year. */
export function hours(text: string): number | Wrong {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= 8_760
    ? value * 3_600_000
    : new Wrong("a whole number of hours from 1 to 8760");
}

/** Up to a year: browsers keep no cookie much longer. */
export function days(text: string): number | Wrong {
  const value = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= 365
    ? value * 86_400_000
    : new Wrong("a whole number of days from 1 to 365");
}

export function count(text: string): number | Wrong {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return value >= 1 ? value : new Wrong("a whole number from 1 to 999999");
}

/** At least one request of the maximum size, or one stored response, must fit. */
export function bodiesMb(text: string): number | Wrong {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  return value >= 32 ? value : new Wrong("a whole number of MiB from 32 to 9999999");
}

export function few(text: string): number | Wrong {
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value <= 10 ? value : new Wrong("a whole number from 0 to 10");
}

export function path(text: string): string | Wrong {
  if (text === "") return new Wrong("a path");
  // Resolved, so that a trailing slash or dot does not matter.
  return resolve(baseDir, text);
}

/** Any key: that of another gateway may look different. */
export function apiKey(text: string): string | Wrong {
  return /^[\x21-\x7e]{1,500}$/.test(text)
    ? text
    : new Wrong("an API key: at most 500 characters without spaces");
}

export function secret(text: string): string | Wrong {
  return text.length >= 32
    ? text
    : new Wrong("at least 32 random characters (openssl rand -hex 32)");
}

/** Of a backup: whoever has the file can try as many as they like. */
export function passphrase(text: string): string | Wrong {
  return text.length >= 12 && text.length <= 1_000
    ? text
    : new Wrong("a passphrase of 12 to 1,000 characters");
}

/** Whether a database setting names a PostgreSQL server, and not a file. */
export const isPostgresUrl = (text: string | undefined): text is string =>
  text !== undefined && /^postgres(ql)?:\/\/\S+$/i.test(text);

/** The path of a file, or the address of a PostgreSQL server as it is. */
export function databaseUrl(text: string): string | Wrong {
  const isServer: boolean = isPostgresUrl(text);
  if (isServer) return text;
  if (/^sqlite:(?!\/\/[^/])/.test(text) && text.length > "sqlite:".length) {
    const file = text.slice("sqlite:".length).replace(/^\/\/(?=\/)/, "");
    return isAbsolute(file) ? file : resolve(baseDir, file);
  }
  return new Wrong("sqlite:PATH or a PostgreSQL address such as postgres://host:5432/svc");
}

/** Gateway processes of one machine; more than its cores only take turns. */
export function workers(text: string): number | Wrong {
  if (text === "auto") return availableParallelism();
  const value = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= 256
    ? value
    : new Wrong("a whole number from 1 to 256, or auto for one per core");
}

/** Two are in use for long at times: by reports, and by what waits for a lock. */
export function connections(text: string): number | Wrong {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return value >= 4 && value <= 1_000 ? value : new Wrong("a whole number from 4 to 1000");
}

export function nodeName(text: string): string | Wrong {
  return /^[A-Za-z0-9._-]{1,64}$/.test(text)
    ? text
    : new Wrong("up to 64 letters, digits, dots, underscores and hyphens");
}

/** Where a database is: its host and its name, without user, password and options. */
export function databasePlace(text: string): string {
  const url = URL.parse(text);
  return url === null ? withoutPassword(text) : `postgres://${url.host}${url.pathname}`;
}
