import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { connection } from "../live/connection.ts";
import { useChosenAccountId, useSession } from "../session.tsx";
import { navigationFor } from "./sidebar/navigation.ts";

/** The page that is being opened comes first. */
const quietMs = 2_500;

/**
 * Fetches the files of the pages in the navigation, one after the other, once the first page is
 * there: they open at once then, even while the gateway restarts. Not for visitors who save data.
 */
export function useWarmUp(): void {
  const router = useRouter();
  const { user } = useSession();
  const account = useChosenAccountId();
  useEffect(() => {
    if (user === null || savesData()) return;
    let isOver = false;
    const warm = async () => {
      const links = navigationFor(user, account).flatMap((group) => group.links);
      for (const { to } of links) {
        if (isOver || !connection.isUp) return;
        await router.preloadRoute({ to }).catch(() => undefined);
      }
    };
    const timer = setTimeout(() => void warm(), quietMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [router, user, account]);
}

function savesData(): boolean {
  const network: unknown = "connection" in navigator ? navigator.connection : undefined;
  return (
    typeof network === "object" &&
    network !== null &&
    "saveData" in network &&
    network.saveData === true
  );
}
