import { type ReactNode, useEffect } from "react";
import classes from "./signed-out-header.module.css";

/** The head of a card at the door. */
export function DoorHeader(props: { readonly title: string; readonly about?: ReactNode }) {
  const { title, about } = props;
  useEffect(() => {
    document.title = `${title} · svc gateway`;
  }, [title]);
  return (
    <>
      <h1 className={classes.title}>{title}</h1>
      {about !== undefined && <p className={classes.about}>{about}</p>}
    </>
  );
}
