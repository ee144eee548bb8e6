import { Outlet } from "@tanstack/react-router";
import { ErrorNotice } from "../components/feedback/error-notice.tsx";
import { Toasts } from "../components/feedback/toasts.tsx";
import { useApi } from "../queries.ts";
import { SessionProvider } from "../session.tsx";
import { ConnectionBar } from "./connection-bar.tsx";
import classes from "./root.module.css";

/** Everything is inside: it finds out who is here first. */
export function Root() {
  const session = useApi("GET /api/session");
  return (
    <>
      <ConnectionBar />
      {session.data === undefined ? (
        <main className={classes.wait}>
          {session.isError && (
            <ErrorNotice problem={session.error} onRetry={() => session.refetch()} />
          )}
        </main>
      ) : (
        <SessionProvider session={session.data}>
          <Outlet />
          <Toasts />
        </SessionProvider>
      )}
    </>
  );
}
