import { ApiProblem } from "../../../../api.ts";
import { problemWithin } from "../../../../components/feedback/form-problem.tsx";
import { kindName } from "../../prices/price-groups.tsx";
import { type Proposal, type RowChange, useOfRow } from "./pricing.ts";

export interface PlacedProblem {
  /** Of the fields for all models: `markup`, or a class of a kind's price, as in `chat.input`. */
  readonly forAll: ApiProblem | null;
  /** Of one model, with its field as the row names it. */
  readonly inRow: { readonly upstream: string; readonly problem: ApiProblem } | undefined;
  /** What no field can show. */
  readonly elsewhere: ApiProblem | null;
}

/** Where the platform's complaint about one of the models is shown. */
export function placeProblem(
  error: ApiProblem | null,
  picked: readonly Proposal[],
  changeOf: (proposal: Proposal) => RowChange,
): PlacedProblem {
  const at = /^models\[(\d+)\]\./.exec(error?.field ?? "")?.[1];
  const proposal = at === undefined ? undefined : picked[Number(at)];
  const problem = problemWithin(error, `models.${at}.`);
  const none = { forAll: null, inRow: undefined, elsewhere: null };
  if (proposal === undefined || problem?.field === undefined) return { ...none, elsewhere: error };
  const { field, status, code, message } = problem;
  const [part = "", name] = field.split(".");
  const change = changeOf(proposal);
  if (change.mode === undefined && (part === "markup" || name !== undefined)) {
    const place = name === undefined ? part : `${kindName(useOfRow(proposal, change))}.${name}`;
    return { ...none, forAll: new ApiProblem({ status, code, message, field: place }) };
  }
  if (name === undefined && !["id", "endpoint", "input", "markup"].includes(part))
    return { ...none, elsewhere: error };
  return { ...none, inRow: { upstream: proposal.upstream, problem } };
}
