import { Button, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { useChange } from "../../queries.ts";
import { lifetimes, modelsProblem, newDraft, toCreateBody, toExpires } from "./key-draft.ts";
import { KeyFields, keyFieldNames } from "./key-fields.tsx";
import type { Model, NewKey } from "./keys.ts";
import { SecretModal } from "./secret-modal.tsx";

interface CreateDialogProps {
  readonly account: string;
  readonly models: readonly Model[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function CreateDialog({ account, models, isOpen, onClose }: CreateDialogProps) {
  const [made, setMade] = useState<NewKey>();
  const close = () => {
    setMade(undefined);
    onClose();
  };
  return (
    <SecretModal title="Create a key" models={models} made={made} isOpen={isOpen} onClose={close}>
      <CreateForm account={account} models={models} onMade={setMade} onClose={close} />
    </SecretModal>
  );
}

interface CreateFormProps {
  readonly account: string;
  readonly models: readonly Model[];
  readonly onMade: (key: NewKey) => void;
  readonly onClose: () => void;
}

const fields = [...keyFieldNames, "expires"];

/** Inside the dialog, so that it begins anew each time. */
function CreateForm({ account, models, onMade, onClose }: CreateFormProps) {
  const [draft, setDraft] = useState(newDraft);
  const [expiry, setExpiry] = useState({ after: "", day: "" });
  const [modelsError, setModelsError] = useState<string>();
  const create = useChange("POST /api/accounts/:account/keys", { onDone: onMade });
  const submit = () => {
    const problem = modelsProblem(draft);
    setModelsError(problem);
    if (problem !== undefined) return;
    const body = toCreateBody(draft, toExpires(expiry, Date.now()));
    create.mutate({ params: { account }, body });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        <KeyFields
          draft={draft}
          onChange={(changed) => {
            setDraft(changed);
            setModelsError(undefined);
          }}
          models={models}
          problem={create.error}
          modelsError={modelsError}
        />
        <Group grow align="flex-start">
          <NativeSelect
            label="Ends"
            description="From then on its calls are refused."
            data={lifetimes}
            value={expiry.after}
            onChange={(event) => setExpiry({ ...expiry, after: event.currentTarget.value })}
            error={expiry.after === "day" ? undefined : fieldError(create.error, "expires")}
          />
          {expiry.after === "day" && (
            <TextInput
              type="date"
              label="Day"
              description="It ends as this day begins, in UTC."
              required
              value={expiry.day}
              onChange={(event) => setExpiry({ ...expiry, day: event.currentTarget.value })}
              error={fieldError(create.error, "expires")}
            />
          )}
        </Group>
        <FormProblem problem={create.error} fields={fields} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create the key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
