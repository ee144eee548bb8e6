import { useEffect, useRef, useState } from "react";
import { ApiProblem } from "../../../api.ts";
import { GatewayProblem } from "./gateway-call.ts";

export type Trouble = GatewayProblem | ApiProblem;

/** One call at a time, which can be stopped, and its trouble. It ends with the page. */
export function useRun() {
  const [isBusy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const run = async (work: (signal: AbortSignal) => Promise<void>) => {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    setTrouble(null);
    setBusy(true);
    try {
      await work(own.signal);
    } catch (error) {
      if (!own.signal.aborted) setTrouble(toTrouble(error));
    } finally {
      if (controller.current === own) setBusy(false);
    }
  };
  return { isBusy, trouble, run, stop: () => controller.current?.abort() };
}

export function toTrouble(error: unknown): Trouble {
  if (error instanceof GatewayProblem || error instanceof ApiProblem) return error;
  return new GatewayProblem({
    status: 0,
    code: "broken",
    message: "The connection to the gateway closed before the reply was complete.",
  });
}
