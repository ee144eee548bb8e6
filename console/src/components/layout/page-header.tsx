import { Link, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { useTimeZone } from "../../format/moments.ts";
import { useSession } from "../../session.tsx";
import classes from "./page-header.module.css";

interface PageHeaderProps {
  readonly title: string;
  /** One line below: what the page is for. */
  readonly about?: ReactNode;
  /** Beside the title, such as a badge. */
  readonly mark?: ReactNode;
  /** On the right: the page's main action. */
  readonly actions?: ReactNode;
  /** Above the title: the way back from a detail. */
  readonly back?: ReactNode;
  /** Whether the page shows times, whose zone is then named here, once. */
  readonly hasTimes?: boolean;
}

let focusedPath: string | undefined;

/**
 * The head of every page. After a navigation the title is focused, so that a screen reader says
 * where one is, and the next Tab goes on from there.
 */
export function PageHeader(props: PageHeaderProps) {
  const { title, about, mark, actions, back, hasTimes = true } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  // Where one has arrived: the address itself changes while the old page is still shown.
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useEffect(() => {
    document.title = `${title} · svc gateway`;
  }, [title]);
  useEffect(() => {
    if (path === undefined) return;
    if (focusedPath !== undefined && focusedPath !== path)
      heading.current?.focus({ preventScroll: true });
    focusedPath = path;
  }, [path]);
  return (
    <div className={classes.header}>
      <div className={classes.words}>
        {back !== undefined && <div className={classes.back}>{back}</div>}
        <div className={classes.line}>
          <h1 ref={heading} tabIndex={-1} className={classes.title}>
            {title}
          </h1>
          {mark}
        </div>
        {about !== undefined && <p className={classes.about}>{about}</p>}
        {hasTimes && <TimeZoneLine />}
      </div>
      {actions !== undefined && <div className={classes.actions}>{actions}</div>}
    </div>
  );
}

function TimeZoneLine() {
  const { user } = useSession();
  const zone = useTimeZone();
  if (user === null) return null;
  return (
    <p className={classes.zone}>
      <Link to="/me" title="Change the time zone in your profile">
        Times in {zone}
      </Link>
    </p>
  );
}
