const referenceText = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** NAME when the text is exactly `${NAME}`. */
export function referencedName(text: string): string | undefined {
  return referenceText.exec(text)?.[1];
}

const fileText = /^\$\{(file:\/[^${}\p{Cc}]{1,4000})\}$/u;

/** No shell runs it: what only a shell understands is refused rather than passed on. */
const commandText = /^\$\{(command:\/[^${}'"`|<>\\\p{Cc}]{1,4000})\}$/u;

/** Also what only svc.yaml may name, such as `file:/PATH` when the text is exactly `${file:/PATH}`. */
export const storedReference = (text: string): string | undefined =>
  referencedName(text) ?? fileText.exec(text)?.[1] ?? commandText.exec(text)?.[1];

/** A file or command of the machine. What it gives must not be sent to any address, as a stored key. */
export const isMachineReference = (reference: string): boolean =>
  reference.startsWith("file:") || reference.startsWith("command:");

/** A reference as it is stored, without its braces. Rows of a backup may have any text in its place. */
export const isStoredReference = (reference: string): boolean =>
  storedReference(`\${${reference}}`) === reference;
