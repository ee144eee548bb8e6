import { Button } from "@mantine/core";
import { IconAlertTriangle, IconPlugConnectedX, IconWifiOff } from "@tabler/icons-react";
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useState, useSyncExternalStore } from "react";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { Loading } from "../components/feedback/loaded.tsx";
import { connection } from "../live/connection.ts";
import { PartGone } from "./lazy-part.tsx";
import classes from "./page-states.module.css";

/** A page that broke, or whose file is gone because the console was updated meanwhile. */
export function PageError({ error }: { readonly error: unknown }) {
  const isReloading = useReload(error);
  if (isReloading) return <PageLoading />;
  const isUpdated = error instanceof PartGone && connection.newBuild !== undefined;
  return (
    <EmptyState
      icon={IconAlertTriangle}
      title={isUpdated ? "The console was updated" : "Could not show this page"}
      about={
        isUpdated
          ? "This page is part of a newer version. Reload to open it."
          : "Reload the page. If this happens again, contact the operator."
      }
      action={<Button onClick={() => location.reload()}>Reload</Button>}
    />
  );
}

const reloadKey = "svc.page-reload";
const reloadPauseMs = 60_000;

/**
 * A browser does not fetch a module again that it failed to fetch once. The file is still there if
 * the console has not been updated, so the window is loaded again, but never in a loop.
 */
function useReload(error: unknown): boolean {
  const [isDue] = useState(
    () =>
      error instanceof PartGone &&
      connection.newBuild === undefined &&
      Date.now() - Number(sessionStorage.getItem(reloadKey)) > reloadPauseMs,
  );
  useEffect(() => {
    if (!isDue) return;
    sessionStorage.setItem(reloadKey, String(Date.now()));
    location.reload();
  }, [isDue]);
  return isDue;
}

/** While a page's own file is on its way, or cannot come. */
export function PageLoading() {
  const state = useSyncExternalStore(connection.subscribe, () => connection.state);
  if (state === "connected") return <Loading lines={6} label="Loading page" />;
  const isOffline = state === "offline";
  return (
    <EmptyState
      icon={isOffline ? IconWifiOff : IconPlugConnectedX}
      title={isOffline ? "You are offline, retrying…" : "Gateway not reachable, retrying…"}
      about="This page opens by itself once the connection is back."
    />
  );
}

/** A thin line on top while the next page is on its way. */
export function NavigationProgress() {
  const isLoading = useRouterState({ select: ({ status }) => status === "pending" });
  return <div className={classes.line} data-loading={isLoading} aria-hidden="true" />;
}
