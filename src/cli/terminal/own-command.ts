import { ownCommand } from "../../config/launcher.ts";

/** All commands except `gateway` and `platform`: "svc gateway" is also the name of the product. */
export const firstWords: readonly string[] = `
  account apply backup changelog chat completion config connect doctor embed engine export exports
  import init key ledger logs migrate model nodes operator price provider receipt report requests
  responses restore say secret serve store transcribe`
  .trim()
  .split(/\s+/);

/** "svc" as a word, possibly after a color code. In `-u svc` it is a user name. */
const mention = new RegExp(
  String.raw`(^|\x1b\[\d+m|[^\w./-])(?<!-u )svc (?=(?:--help|${firstWords.join("|")})(?![\w-]))`,
  "g",
);

/** Replaces "svc" in hints by the command that works in the current folder. */
export function asTyped(text: string, command: string = ownCommand): string {
  return command === "svc" ? text : text.replaceAll(mention, `$1${command} `);
}
