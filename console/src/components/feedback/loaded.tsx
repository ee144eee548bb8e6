import { VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";
import type { ApiProblem } from "../../api.ts";
import { ErrorNotice } from "./error-notice.tsx";
import classes from "./loading.module.css";

interface LoadingProps {
  readonly lines?: number;
  readonly label?: string;
}

/** Grey lines where words will be; nothing moves when these come. */
export function Loading({ lines = 4, label = "Loading" }: LoadingProps) {
  return (
    <div role="status" aria-busy="true" className={classes.loading}>
      <VisuallyHidden>{label}</VisuallyHidden>
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} className={classes.line} />
      ))}
    </div>
  );
}

interface LoadedProps<Data> extends LoadingProps {
  /** What `useApi` gives. */
  readonly from: {
    readonly data: Data | undefined;
    readonly error: ApiProblem | null;
    readonly isPending: boolean;
    readonly refetch: () => unknown;
  };
  readonly children: (data: Data) => ReactNode;
}

/** What was asked for, once it is there; before that grey lines, or what went wrong. */
export function Loaded<Data>({ from, children, ...rest }: LoadedProps<Data>) {
  return (
    <>
      <ErrorNotice problem={from.error} onRetry={from.refetch} />
      {from.isPending && <Loading {...rest} />}
      {from.data !== undefined && children(from.data)}
    </>
  );
}
