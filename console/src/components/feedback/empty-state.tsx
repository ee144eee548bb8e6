import type { Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";
import classes from "./empty-state.module.css";

interface EmptyStateProps {
  readonly icon: Icon;
  /** What is so: `No keys yet`. */
  readonly title: string;
  /** What to do next, in a sentence. */
  readonly about: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ icon: PageIcon, title, about, action }: EmptyStateProps) {
  return (
    <div className={classes.empty}>
      <span className={classes.icon}>
        <PageIcon size={22} />
      </span>
      <h2 className={classes.title}>{title}</h2>
      <p className={classes.about}>{about}</p>
      {action !== undefined && <div className={classes.action}>{action}</div>}
    </div>
  );
}
