/** Controls, marks of direction, zero-width, private, unassigned and halved characters, line ends. */
const invisible = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Whether some text holds what nobody sees, and what could make it look like another one. */
export function hasInvisible(text: string): boolean {
  return invisible.test(text);
}
