/** Addresses: of pages, of people, of files. */
import { type Rule, rule } from "./rules.ts";

const spelledEndings = new Set([
  "io",
  "ai",
  "uk",
  "us",
  "eu",
  "tv",
  "js",
  "ts",
  "py",
  "md",
  "fm",
  "gg",
  "css",
  "html",
  "xml",
  "csv",
  "pdf",
  "txt",
  "svg",
  "mp3",
  "mp4",
  "cpp",
  "exe",
  "dll",
  "sh",
  "rs",
  "go",
  "tsx",
  "jsx",
  "sql",
  "xyz",
  "de",
  "fr",
  "jp",
  "cn",
  "ca",
  "ch",
  "nl",
]);

const fileEndings =
  "json|js|ts|tsx|jsx|py|md|css|html?|xml|csv|pdf|txt|svg|png|jpe?g|gif|mp3|mp4|wav|zip|gz|ya?ml|toml|exe|dll|sh|sql|log|docx?|xlsx?|pptx?|cpp|rs|ini|env";
const hostEndings =
  "com|org|net|io|ai|dev|app|co|edu|gov|info|me|tv|uk|us|eu|de|fr|jp|cn|ca|ch|nl|xyz|gg|fm";

export const webRules: readonly Rule[] = [
  rule(/\b(?:https?|ftp|wss?):\/\/(?<rest>[^\s<>"')\]]+)/giu, ({ rest = "" }) => {
    const stop = /[.,;:!?]+$/u.exec(rest)?.[0] ?? "";
    return sayUrl(rest.slice(0, rest.length - stop.length)) + stop.slice(0, 1);
  }),
  rule(
    /\b(?:mailto:)?(?<user>[\w.+-]+)@(?<host>[\w-]+(?:\.[\w-]+)+)/gu,
    ({ user = "", host = "" }) => `${sayPath(user)} at ${sayHost(host)}`,
  ),
  rule(/\bwww\.[^\s<>"')\]]*[\w/]/giu, (_, { text }) => sayUrl(text)),
  rule(
    new RegExp(
      `(?<![\\w@.])(?<host>(?:[a-z0-9][a-z0-9-]*\\.)+(?:${hostEndings}))(?<path>/[^\\s<>"')\\]]*[\\w/])?(?![\\w@-]|\\.\\w)`,
      "gu",
    ),
    ({ host = "", path = "" }) =>
      /^[A-Z]\./u.test(host) || /^[\d.]+$/u.test(host) ? undefined : sayUrl(host + path),
  ),
  rule(
    new RegExp(
      `(?<![\\w@])(?<name>[\\w-]+(?:\\.[\\w-]+)*)?\\.(?<ending>${fileEndings})\\b(?!\\.\\w)`,
      "gu",
    ),
    ({ name = "", ending = "" }) =>
      `${name === "" ? "" : `${sayPath(name)} `}dot ${sayEnding(ending)}`,
  ),
  rule(/(?<![\w@])@(?<user>[A-Za-z]\w*)/gu, ({ user = "" }) => `at ${sayPath(user)}`),
  rule(/(?<![\w#&])#(?<tag>[A-Za-z]\w*)/gu, ({ tag = "" }) => `hashtag ${sayPath(tag)}`),
];

/** Host and path, without what nobody reads aloud: the scheme, the query, the fragment. */
function sayUrl(text: string): string {
  const [address = ""] = text.split(/[?#]/u);
  const [host = "", ...segments] = address.split("/");
  const path = segments.filter((segment) => segment !== "");
  return [sayHost(host), ...path.map(sayPath)].join(" slash ");
}

function sayHost(host: string): string {
  const [name = "", port] = host.split(":");
  const parts = name.split(".").map((part, index, all) => {
    if (part.toLowerCase() === "www") return "WWW";
    return index === all.length - 1 ? sayEnding(part) : sayPath(part);
  });
  return parts.join(" dot ") + (port === undefined ? "" : `, port ${port}`);
}

function sayEnding(ending: string): string {
  return spelledEndings.has(ending.toLowerCase()) ? ending.toUpperCase() : ending;
}

function sayPath(text: string): string {
  return decode(text)
    .replaceAll("_", " underscore ")
    .replaceAll("+", " plus ")
    .replaceAll("-", " dash ")
    .replace(/\.(?=\S)/gu, " dot ")
    .replace(/[^\w\s]/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
