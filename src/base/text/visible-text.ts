/** Controls, marks of direction, zero-width, private, unassigned and halved characters, line ends. */
const invisible = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Whether some text holds what nobody sees, and what could make it look like another one. */
export function hasInvisible(text: string): boolean {
  return invisible.test(text);
}

const invisibles = new RegExp(invisible, "gu");

/** With escapes in their place: what others wrote cannot move a cursor or begin a line of its own. */
export function visible(text: string): string {
  return text.replaceAll(invisibles, (one) =>
    one === "\n" ? "\\n" : `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
