import type { ReactNode } from "react";
import { CopyButton } from "../code/copy-button.tsx";
import classes from "./fact.module.css";

/** One line of a description list. */
export function Fact({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** An id that can be copied. */
export function Id({ id, what }: { readonly id: string; readonly what: string }) {
  return (
    <span className={classes.id}>
      <code>{id}</code>
      <CopyButton text={id} what={what} />
    </span>
  );
}
