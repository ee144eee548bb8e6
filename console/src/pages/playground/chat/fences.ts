export interface Piece {
  readonly isCode: boolean;
  readonly text: string;
}

/** A fence that is still open reaches to the end: the rest of it is on its way. */
export function toPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let lines: string[] = [];
  let isCode = false;
  const close = () => {
    const joined = lines.join("\n");
    if (joined.trim() !== "") pieces.push({ isCode, text: isCode ? joined : joined.trim() });
    lines = [];
  };
  for (const line of text.split("\n"))
    if (/^\s*```/.test(line)) {
      close();
      isCode = !isCode;
    } else lines.push(line);
  close();
  return pieces;
}
