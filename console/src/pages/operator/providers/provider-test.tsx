import { Button, Loader } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiProblem, call, type Reply } from "../../../api.ts";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { formatMs } from "../../../format/figures.ts";
import classes from "./page.module.css";
import { trialLabels } from "./words.ts";

type Trial = Reply<"POST /api/providers/:name/test">;
type Planned = Reply<"GET /api/providers/:name/trials">[number];
interface Step {
  readonly planned: Planned;
  readonly made: Trial | undefined;
}

export interface Test {
  readonly steps: readonly Step[];
  readonly isRunning: boolean;
  readonly problem: ApiProblem | null;
  readonly start: () => void;
  readonly clear: () => void;
}

/** One call after the other, each told as it ends. */
export function useTest(name: string): Test {
  const client = useQueryClient();
  const [steps, setSteps] = useState<readonly Step[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const runAll = async () => {
    setRunning(true);
    setProblem(null);
    setSteps([]);
    const run = newRun();
    try {
      const planned = await call("GET /api/providers/:name/trials", { params: { name } });
      setSteps(planned.map((one) => ({ planned: one, made: undefined })));
      for (const [at, { kind, key }] of planned.entries()) {
        const made = await call("POST /api/providers/:name/test", {
          params: { name },
          body: { kind, run, ...(key === null ? {} : { key }) },
        });
        setSteps((old) => old.map((step, place) => (place === at ? { ...step, made } : step)));
      }
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error : null);
    }
    setRunning(false);
    await client.invalidateQueries({ queryKey: ["GET /api/providers"] });
  };
  return {
    steps,
    isRunning,
    problem,
    start: () => void runAll(),
    clear: () => {
      setSteps([]);
      setProblem(null);
    },
  };
}

/** `crypto.randomUUID` is missing where the console is served over plain HTTP. */
const newRun = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

export function TestResults({ test }: { readonly test: Test }) {
  const { steps, isRunning, problem, clear } = test;
  if (steps.length === 0 && problem === null) return null;
  const running = steps.findIndex(({ made }) => made === undefined);
  const failed = steps.filter(({ made }) => made?.ok === false).length;
  return (
    <div className={classes.test}>
      <div className={classes.testHead}>
        <strong role="status">
          {isRunning
            ? `Call ${running + 1} of ${steps.length}…`
            : failed === 0 && problem === null
              ? "All calls worked."
              : `${failed} of ${steps.length} calls failed.`}
        </strong>
        {!isRunning && (
          <Button size="compact-xs" variant="subtle" color="gray" onClick={clear}>
            Close
          </Button>
        )}
      </div>
      <ErrorNotice problem={problem} />
      <ol className={classes.steps}>
        {steps.map((step, at) => (
          <StepLine
            key={`${step.planned.kind} ${step.planned.key}`}
            step={step}
            isNow={isRunning && at === running}
          />
        ))}
      </ol>
    </div>
  );
}

function StepLine({ step, isNow }: { readonly step: Step; readonly isNow: boolean }) {
  const { planned, made } = step;
  return (
    <li data-ok={made?.ok ?? "none"}>
      <span className={classes.mark}>
        {isNow && <Loader size={14} aria-label="Calling" />}
        {made !== undefined && (made.ok ? <IconCheck size={16} /> : <IconX size={16} />)}
      </span>
      <div>
        <div className={classes.stepHead}>
          <span>{trialLabels[planned.kind]}</span>
          {planned.model !== null && <code>{planned.model}</code>}
          {planned.key !== null && <span>Key {planned.key}</span>}
          {made !== undefined && <span>{formatMs(made.duration_ms)}</span>}
          {made?.ok === true && <span>{made.result}</span>}
          {made === undefined && !isNow && <span>Waiting</span>}
        </div>
        {made?.unlisted.map(({ model, upstream }) => (
          <p key={`${model} ${upstream}`} className={classes.trouble}>
            The vendor does not list <code>{upstream}</code>, which serves {model}. It may have been
            shut down. Change the route.
          </p>
        ))}
        {made?.problem !== null && made?.problem !== undefined && (
          <p className={classes.trouble}>
            <strong>{made.problem.what}</strong> {made.problem.advice}
          </p>
        )}
      </div>
    </li>
  );
}
