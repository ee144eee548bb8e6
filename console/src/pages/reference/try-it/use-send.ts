import { useEffect, useRef, useState } from "react";
import { ApiProblem } from "../../../api.ts";
import { type Answer, type Question, send } from "./send.ts";

/** One request at a time; leaving the page ends it. */
export function useSend() {
  const [answer, setAnswer] = useState<Answer | undefined>();
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const controller = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => controller.current?.abort(), []);
  const run = async (question: Omit<Question, "signal">) => {
    const mine = new AbortController();
    controller.current = mine;
    setAnswer(undefined);
    setProblem(null);
    setBusy(true);
    await send({ ...question, signal: mine.signal }, setAnswer).catch((error: unknown) =>
      setProblem(toProblem(mine.signal.aborted, error)),
    );
    setBusy(false);
  };
  const refuse = (message: string) =>
    setProblem(new ApiProblem({ status: 400, code: "invalid", message }));
  return { answer, problem, isBusy, run, refuse, stop: () => controller.current?.abort() };
}

function toProblem(isStopped: boolean, error: unknown): ApiProblem {
  return new ApiProblem({
    status: isStopped ? 400 : 0,
    code: isStopped ? "stopped" : "unreachable",
    message: isStopped
      ? "Stopped. The response so far is shown."
      : `No response. Check that the server is running and that SVC_CORS_ORIGINS allows ${location.origin}. Browser error: ${String(error)}`,
  });
}
