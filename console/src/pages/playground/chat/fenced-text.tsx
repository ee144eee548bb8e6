import { CopyButton } from "../../../components/code/copy-button.tsx";
import classes from "./chat.module.css";
import { toPieces } from "./fences.ts";

/** Plain text as it came; code between fences stands apart. */
export function FencedText({ text }: { readonly text: string }) {
  return toPieces(text).map((piece, at) =>
    piece.isCode ? (
      <div key={at} className={classes.fence}>
        <pre tabIndex={0} aria-label="Code in the answer">
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
