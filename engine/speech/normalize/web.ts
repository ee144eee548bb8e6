/** Addresses: of pages, of people, of files. */
import type { Rule } from "./rules.ts";

const fileEndings =
  "json|js|ts|tsx|jsx|py|md|css|html?|xml|csv|pdf|txt|svg|png|jpe?g|gif|mp3|mp4|wav|zip|gz|ya?ml|toml|exe|sh|sql|log|docx?|xlsx?|pptx?|cpp|rs|env";
const hostEndings =
  "com|org|net|io|ai|dev|app|co|edu|gov|info|me|tv|uk|us|eu|de|fr|jp|cn|ca|ch|nl|xyz";

export const webRules: readonly Rule[] = [
  [
    /\b(?:https?|ftp|wss?):\/\/(?<rest>[^\s<>"')\]]*[^\s<>"')\].,;:!?])/giu,
    ({ rest = "" }) => sayUrl(rest),
  ],
  [
    /(?<![\w.+-])(?:mailto:)?(?<user>[\w.+-]+)@(?<host>[\w-]+(?:\.[\w-]+)+)/gu,
    ({ user = "", host = "" }) => `${sayPath(user)} at ${sayHost(host)}`,
  ],
  [/\bwww\.[^\s<>"')\]]*[\w/]/giu, (_, { text }) => sayUrl(text)],
  [
    new RegExp(
      `(?<![\\w@.-])(?:[a-z0-9][a-z0-9-]*\\.)+(?:${hostEndings})(?:/[^\\s<>"')\\]]*[\\w/])?(?![\\w@-]|\\.\\w)`,
      "gu",
    ),
    (_, { text }) => sayUrl(text),
  ],
  [
    new RegExp(
      `(?<![\\w@.-])(?<name>[\\w-]+(?:\\.[\\w-]+)*)?\\.(?<ending>${fileEndings})\\b(?!\\.\\w)`,
      "gu",
    ),
    ({ name = "", ending = "" }) => `${sayPath(name)} dot ${sayEnding(ending)}`,
  ],
  [/(?<![\w@])@(?<user>[A-Za-z]\w*)/gu, ({ user = "" }) => `at ${sayPath(user)}`],
  [/(?<![\w#&])#(?<tag>[A-Za-z]\w*)/gu, ({ tag = "" }) => `hashtag ${sayPath(tag)}`],
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
  const labels = name.split(".").map((label, index, all) => {
    if (label.toLowerCase() === "www") return "WWW";
    return index === all.length - 1 ? sayEnding(label) : sayPath(label);
  });
  return labels.join(" dot ") + (port === undefined ? "" : `, port ${port}`);
}

/** Two letters, or letters without a vowel, are spelled: ".io", ".html". */
function sayEnding(ending: string): string {
  const isWord = /^(?:co|me|go)$/iu.test(ending) || !/^(?:..|[^aeiou]+)$/iu.test(ending);
  return isWord ? ending : ending.toUpperCase();
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
