import { Button } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { EmptyState } from "../components/feedback/empty-state.tsx";

/** A page that broke, or whose file is gone because the console was updated meanwhile. */
export function PageTrouble() {
  return (
    <EmptyState
      icon={IconAlertTriangle}
      title="This page did not load"
      about="The console may have been updated since you opened it. Loading it again usually helps."
      action={<Button onClick={() => location.reload()}>Load again</Button>}
    />
  );
}
