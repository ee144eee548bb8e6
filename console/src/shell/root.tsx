import { useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { type ReactNode, Suspense, useState } from "react";
import { ErrorNotice } from "../components/feedback/error-notice.tsx";
import { Toasts } from "../components/feedback/toasts.tsx";
import { sessionKey, useApi } from "../queries.ts";
import { SessionProvider, useSession } from "../session.tsx";
import { ConnectionBar } from "./connection-bar.tsx";
import { lazyPart } from "./lazy-part.tsx";
import { PageLoading } from "./page-states.tsx";
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
          <FactorGate>
            <Outlet />
          </FactorGate>
          <Toasts />
        </SessionProvider>
      )}
    </>
  );
}

const RequiredFactor = lazyPart(
  async () => (await import("../pages/me/factors/required.tsx")).RequiredFactor,
);

/**
 * Nothing else is open to a user who must set up a second factor. It stays until the recovery codes
 * have been seen, although the session is complete by then.
 */
function FactorGate({ children }: { readonly children: ReactNode }) {
  const { user, must_add_factor: isRequired } = useSession();
  const client = useQueryClient();
  const [isHeld, setHeld] = useState(false);
  if (isRequired && !isHeld) setHeld(true);
  if (!isHeld || user === null) return children;
  const finish = async () => {
    await client.refetchQueries({ queryKey: sessionKey });
    setHeld(false);
  };
  return (
    <Suspense fallback={<PageLoading />}>
      <RequiredFactor onDone={() => void finish()} />
    </Suspense>
  );
}
