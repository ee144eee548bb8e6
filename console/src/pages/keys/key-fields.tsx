import { TextInput } from "@mantine/core";
import type { ApiProblem } from "../../api.ts";
import { fieldError } from "../../components/feedback/form-problem.tsx";
import { LimitFields, limitFieldNames } from "../operator/account/limit-fields.tsx";
import type { KeyDraft } from "./key-draft.ts";
import type { Model } from "./keys.ts";
import { ModelChoice } from "./model-choice.tsx";
import classes from "./page.module.css";

export const keyFieldNames = ["name", "models", ...limitFieldNames];

interface KeyFieldsProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  readonly models: readonly Model[];
  readonly problem: ApiProblem | null;
  readonly modelsError: string | undefined;
}

/** What can be chosen of a key, new or old. */
export function KeyFields({ draft, onChange, models, problem, modelsError }: KeyFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        description="What will use it, so that you know it later."
        required
        maxLength={100}
        placeholder="checkout service"
        data-autofocus
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.currentTarget.value })}
        error={fieldError(problem, "name")}
      />
      <ModelChoice
        draft={draft}
        onChange={onChange}
        models={models}
        error={modelsError ?? fieldError(problem, "models")}
      />
      <fieldset className={classes.choice}>
        <legend>Limits (optional)</legend>
        <LimitFields
          value={draft.limits}
          onChange={(limits) => onChange({ ...draft, limits })}
          problem={problem}
        />
        <p className={classes.quiet}>
          What is empty is not limited. A call beyond a limit is refused with 429, one beyond the
          budget with 402.
        </p>
      </fieldset>
    </>
  );
}
