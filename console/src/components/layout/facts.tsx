import { Fragment, type ReactNode } from "react";
import classes from "./panel.module.css";

/** Labels with their values on the right: `<Facts of={{ "Tokens per minute": 100 }} />`. */
export function Facts({ of }: { readonly of: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className={classes.facts}>
      {Object.entries(of).map(([label, value]) => (
        <Fragment key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
