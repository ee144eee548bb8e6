import { useRouterState } from "@tanstack/react-router";
import classes from "./progress.module.css";

/** A thin line on top while the next page is on its way. */
export function Progress() {
  const isLoading = useRouterState({ select: ({ status }) => status === "pending" });
  return <div className={classes.line} data-loading={isLoading} aria-hidden="true" />;
}
