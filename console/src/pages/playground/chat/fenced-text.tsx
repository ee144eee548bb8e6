import { CopyButton } from "../../../components/code/copy-button.tsx";
import classes from "./chat.module.css";

/** Plain text as it came; code between fences stands apart. */
export function FencedText({ text }: { readonly text: string }) {
  return toPieces(text).map((piece, at) =>
    piece.isCode ? (
      <div key={at} className={classes.fence}>
        <pre tabIndex={0} aria-label="Code in the reply">
          <code>{piece.text}</code>
        </pre>
        <div className={classes.fenceCopy}>
          <CopyButton text={piece.text} what="this code" />
        </div>
      </div>
    ) : (
      <div key={at} className={classes.plain}>
        {piece.text}
      </div>
    ),
  );
}

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
