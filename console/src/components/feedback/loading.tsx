import { VisuallyHidden } from "@mantine/core";
import classes from "./loading.module.css";

/** Grey lines where words will be; nothing moves when these come. */
export function Loading(props: { readonly lines?: number; readonly label?: string }) {
  const { lines = 4, label = "Loading" } = props;
  return (
    <div role="status" aria-busy="true" className={classes.loading}>
      <VisuallyHidden>{label}</VisuallyHidden>
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} className={classes.line} />
      ))}
    </div>
  );
}
