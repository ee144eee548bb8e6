import { detached } from "../base/text/detached.ts";

/** Where any vendor's key begins: people paste them into the wrong field. */
const secrets = /(?<![A-Za-z0-9])(sk-(?:svc-)?|AIza|gsk_|xai-|ghp_)[\w./+=-]{6,}/g;

/** A line end would forge a line of somebody's terminal, and a mark of direction a name. */
const invisible = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * Text for a record that others will read: shortened, in one line, and without what looks like a
 * secret.
 */
export function toShortText(text: string, most: number): string {
  // Cut first, with what the longest secret may need: the rest is not worth the work.
  const start = text
    .slice(0, most + 200)
    .replaceAll(invisible, "\ufffd")
    .replaceAll(secrets, "$1…");
  return text.length <= most ? start : detached(cut(start, most));
}

const cut = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;
