import { hasInvisible } from "./visible-text.ts";

/** Somebody's address, with a name where one is given. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** One address, without anything that means something in the header of a message. */
export const isMailAddress = (text: string): boolean =>
  text.length <= 254 &&
  !hasInvisible(text) &&
  /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/.test(text);

/** `ada@example.com` or `Ada Lovelace <ada@example.com>`; undefined: neither. */
export function readMailbox(text: string): Mailbox | undefined {
  const [, name = "", inside] = /^([^<>"]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  const address = (inside ?? text).trim();
  if (!isMailAddress(address) || hasInvisible(name) || name.length > 100) return undefined;
  return { name: name.trim(), address };
}
