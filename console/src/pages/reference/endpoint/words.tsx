import classes from "./endpoint.module.css";

/** Text with `code` between backticks: all the markup that our descriptions have. */
export function Words({ text }: { readonly text: string }) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}

/** GET reads, the others change: the word says it, the color repeats it. */
export function Method({ method }: { readonly method: string }) {
  return (
    <span className={classes.method} data-method={method}>
      {method}
    </span>
  );
}
