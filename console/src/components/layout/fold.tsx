import { IconChevronRight } from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./fold.module.css";

interface FoldProps {
  /** What is inside, with how many: `Retired models (3)`. */
  readonly title: string;
  readonly children: ReactNode;
}

/** What few come for, folded away below the rest. */
export function Fold({ title, children }: FoldProps) {
  return (
    <details className={classes.fold}>
      <summary className={classes.summary}>
        <IconChevronRight size={16} />
        {title}
      </summary>
      {children}
    </details>
  );
}
