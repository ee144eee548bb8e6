import classes from "./endpoint.module.css";

/** GET reads, the others change: the word says it, the colour repeats it. */
export function Method({ method }: { readonly method: string }) {
  return (
    <span className={classes.method} data-method={method}>
      {method}
    </span>
  );
}
