import { ApiProblem } from "../../api.ts";
import { ErrorNotice } from "./error-notice.tsx";

/** The message for one field: `<TextInput error={fieldError(change.error, "name")} />`. */
export function fieldError(problem: ApiProblem | null, field: string): string | undefined {
  if (problem?.field !== field) return undefined;
  // The label says which it is; the name that programs have for it would only confuse.
  const { message } = problem;
  if (!message.startsWith(`${field} `)) return message;
  const rest = message.slice(field.length + 1);
  return rest.startsWith("is ") ? `This ${rest}` : rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** The problem of one item of a list, with its field named as in the form of that item. */
export function problemWithin(problem: ApiProblem | null, prefix: string): ApiProblem | null {
  const field = problem?.field === undefined ? undefined : withDots(problem.field);
  if (problem === null || field?.startsWith(prefix) !== true) return problem;
  const { status, code, message } = problem;
  const named = problem.field ?? "";
  const inItem = field.slice(prefix.length);
  return new ApiProblem({
    status,
    code,
    message: message.startsWith(named) ? `${inItem}${message.slice(named.length)}` : message,
    field: inItem,
  });
}

/** `models[0].id` and `models.0.id` are the same. */
const withDots = (field: string) => field.replaceAll(/\[(\d+)\]/g, ".$1");

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
