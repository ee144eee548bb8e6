import { Button, CloseButton } from "@mantine/core";
import { IconPlugConnectedX, IconSparkles, IconWifiOff } from "@tabler/icons-react";
import { type ReactNode, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { connection } from "../live/connection.ts";
import classes from "./connection-bar.module.css";

/**
 * Above everything, while the platform cannot be reached or once it has a newer console. It is
 * always there for screen readers, which announce only what changes inside.
 */
export function ConnectionBar() {
  const state = useSyncExternalStore(connection.subscribe, () => connection.state);
  const newBuild = useSyncExternalStore(connection.subscribe, () => connection.newBuild);
  const [dismissed, setDismissed] = useState<string>();
  return (
    <div role="status" className={classes.place}>
      {state !== "connected" ? (
        <Bar tone="warn">
          {state === "offline" ? <IconWifiOff size={16} /> : <IconPlugConnectedX size={16} />}
          <span>
            {state === "offline"
              ? "You are offline, retrying…"
              : "Gateway not reachable, retrying…"}
          </span>
        </Bar>
      ) : (
        newBuild !== undefined &&
        newBuild !== dismissed && (
          <Bar tone="news">
            <IconSparkles size={16} />
            <span>A new version is available.</span>
            <Button size="compact-xs" onClick={() => location.reload()}>
              Reload
            </Button>
            <CloseButton size="sm" aria-label="Dismiss" onClick={() => setDismissed(newBuild)} />
          </Bar>
        )
      )}
    </div>
  );
}

const heightPx = 38;

function Bar(props: { readonly tone: "warn" | "news"; readonly children: ReactNode }) {
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    style.setProperty("--svc-bar", `${heightPx}px`);
    return () => void style.removeProperty("--svc-bar");
  }, []);
  return (
    <div className={classes.bar} data-tone={props.tone}>
      {props.children}
    </div>
  );
}
