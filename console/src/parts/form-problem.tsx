import type { ApiProblem } from "../api.ts";
import { ErrorNotice } from "./error-notice.tsx";

/** The message for one field: `<TextInput error={fieldError(change.error, "name")} />`. */
export function fieldError(problem: ApiProblem | null, field: string): string | undefined {
  return problem?.field === field ? problem.message : undefined;
}

interface FormProblemProps {
  readonly problem: ApiProblem | null;
  /** The fields that show their own message. */
  readonly fields: readonly string[];
}

/** What no field of the form says itself. */
export function FormProblem({ problem, fields }: FormProblemProps) {
  if (problem?.field !== undefined && fields.includes(problem.field)) return null;
  return <ErrorNotice problem={problem} />;
}
