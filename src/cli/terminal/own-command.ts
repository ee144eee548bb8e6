import { ownCommand } from "../../config/launcher.ts";

/** Of all commands but `gateway` and `platform`: with `svc` before them, those are also names. */
export const firstWords: readonly string[] = `
  account apply backup changelog chat completion config connect doctor embed engine export exports
  import init key ledger logs migrate model nodes operator price provider receipt report requests
  responses restore say secret serve store transcribe`
  .trim()
  .split(/\s+/);

/** Not a part of a path or of another word, but right behind a color. `-u svc` is a user. */
const mention = new RegExp(
  String.raw`(^|\x1b\[\d+m|[^\w./-])(?<!-u )svc (?=(?:--help|${firstWords.join("|")})(?![\w-]))`,
  "g",
);

/** A text for people, whose commands work as they stand. */
export function asTyped(text: string, command: string = ownCommand): string {
  return command === "svc" ? text : text.replaceAll(mention, `$1${command} `);
}
