import { Button, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import { FormProblem } from "../../components/feedback/form-problem.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { useChange } from "../../queries.ts";
import { draftOf, modelsProblem, toChangeBody } from "./key-draft.ts";
import { KeyFields, keyFieldNames } from "./key-fields.tsx";
import { type Key, type Model, nameOf } from "./keys.ts";

interface EditDialogProps {
  /** None: closed. */
  readonly of: Key | undefined;
  readonly models: readonly Model[];
  readonly onClose: () => void;
}

export function EditDialog({ of, models, onClose }: EditDialogProps) {
  return (
    <Modal
      opened={of !== undefined}
      onClose={onClose}
      title={of === undefined ? "" : `Edit “${nameOf(of)}”`}
      size="lg"
    >
      {of !== undefined && <EditForm of={of} models={models} onClose={onClose} />}
    </Modal>
  );
}

function EditForm({ of, models, onClose }: EditDialogProps & { readonly of: Key }) {
  const [draft, setDraft] = useState(() => draftOf(of));
  const [modelsError, setModelsError] = useState<string>();
  const change = useChange("PATCH /api/accounts/:account/keys/:id", {
    onDone: (key) => {
      say(`The key “${nameOf(key)}” is changed. It counts from the next call on.`);
      onClose();
    },
  });
  const submit = () => {
    const problem = modelsProblem(draft);
    setModelsError(problem);
    if (problem !== undefined) return;
    const body = toChangeBody(of, draft);
    if (body === undefined) onClose();
    else change.mutate({ params: { account: of.account, id: of.id }, body });
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
          problem={change.error}
          modelsError={modelsError}
        />
        <FormProblem problem={change.error} fields={keyFieldNames} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={change.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
