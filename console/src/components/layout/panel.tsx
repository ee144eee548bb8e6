import { type ReactNode, useId } from "react";
import classes from "./panel.module.css";

interface PanelProps {
  readonly title?: string;
  readonly about?: ReactNode;
  /** On the right of the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** The content reaches the border, as tables do. */
  readonly isFlush?: boolean;
}

/** A bordered part of a page, with its own heading. */
export function Panel({ title, about, actions, children, isFlush = false }: PanelProps) {
  const id = useId();
  return (
    <section
      className={classes.panel}
      data-panel
      aria-labelledby={title === undefined ? undefined : id}
    >
      {title !== undefined && (
        <div className={classes.head}>
          <div>
            <h2 id={id} className={classes.title}>
              {title}
            </h2>
            {about !== undefined && <p className={classes.about}>{about}</p>}
          </div>
          {actions}
        </div>
      )}
      <div className={isFlush ? classes.flush : classes.body}>{children}</div>
    </section>
  );
}
