import { Button } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useRouterState } from "@tanstack/react-router";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { Loading } from "../components/feedback/loaded.tsx";
import classes from "./page-states.module.css";

/** A page that broke, or whose file is gone because the console was updated meanwhile. */
export function PageError() {
  return (
    <EmptyState
      icon={IconAlertTriangle}
      title="Could not load this page"
      about="The console may have been updated since you opened it. Reload the page."
      action={<Button onClick={() => location.reload()}>Reload</Button>}
    />
  );
}

/** While a page's own file is on its way. */
export function PageLoading() {
  return <Loading lines={6} label="Loading page" />;
}

/** A thin line on top while the next page is on its way. */
export function NavigationProgress() {
  const isLoading = useRouterState({ select: ({ status }) => status === "pending" });
  return <div className={classes.line} data-loading={isLoading} aria-hidden="true" />;
}
