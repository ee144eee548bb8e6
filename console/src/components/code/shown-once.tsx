import { IconInfoCircle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { CopyButton } from "./copy-button.tsx";
import classes from "./shown-once.module.css";

interface ShownOnceProps {
  readonly secret: string;
  /** What it is, for the button and screen readers: `the token`. */
  readonly what: string;
  /** Why it must be taken now. */
  readonly children: ReactNode;
}

/** A secret on its only way to somebody: large enough to see, one click to take. */
export function ShownOnce({ secret, what, children }: ShownOnceProps) {
  return (
    <div className={classes.box}>
      <p className={classes.words}>
        <IconInfoCircle size={18} />
        <span>{children}</span>
      </p>
      <div className={classes.line}>
        <code className={classes.secret}>{secret}</code>
        <CopyButton text={secret} what={what} isLarge />
      </div>
    </div>
  );
}
