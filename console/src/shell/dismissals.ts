import { useState } from "react";
import { useChange } from "../queries.ts";
import { useUser } from "../session.tsx";

/** What a person has dismissed for good, in every browser that they use. */
export function useDismissed(hint: string): [isDismissed: boolean, dismiss: () => void] {
  const { dismissed } = useUser();
  // It goes at once; if that cannot be saved, it is back with the next visit.
  const [isGone, setGone] = useState(false);
  const change = useChange("PATCH /api/me");
  return [
    isGone || dismissed.includes(hint),
    () => {
      setGone(true);
      change.mutate({ body: { dismiss: hint } });
    },
  ];
}
