import { Button, Group, Radio, Stack } from "@mantine/core";
import { useState } from "react";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { useChange } from "../../queries.ts";
import { type Key, type Model, type NewKey, nameOf } from "./keys.ts";
import classes from "./page.module.css";
import { SecretModal } from "./secret-modal.tsx";

interface RotateDialogProps {
  /** None: closed. */
  readonly of: Key | undefined;
  readonly models: readonly Model[];
  readonly onClose: () => void;
}

export function RotateDialog({ of, models, onClose }: RotateDialogProps) {
  const [made, setMade] = useState<NewKey>();
  const close = () => {
    setMade(undefined);
    onClose();
  };
  return (
    <SecretModal
      title={of === undefined ? "" : `Rotate “${nameOf(of)}”`}
      models={models}
      made={made}
      isOpen={of !== undefined}
      onClose={close}
    >
      {of !== undefined && <RotateForm of={of} onMade={setMade} onClose={close} />}
    </SecretModal>
  );
}

const overlaps = [
  {
    value: "0",
    label: "Not at all",
    about: "The old secret is refused at once: for one that leaked.",
  },
  { value: "1h", label: "1 hour", about: "Both secrets work for an hour." },
  { value: "24h", label: "24 hours", about: "Both secrets work until this time tomorrow." },
  { value: "7d", label: "7 days", about: "Both secrets work for a week." },
];

interface RotateFormProps {
  readonly of: Key;
  readonly onMade: (key: NewKey) => void;
  readonly onClose: () => void;
}

function RotateForm({ of, onMade, onClose }: RotateFormProps) {
  const [overlap, setOverlap] = useState("24h");
  const rotate = useChange("POST /api/accounts/:account/keys/:id/rotate", { onDone: onMade });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        rotate.mutate({ params: { account: of.account, id: of.id }, body: { overlap } });
      }}
    >
      <Stack>
        <p className={classes.words}>
          The key gets a new secret, shown once. Its name, models, limits and budget stay, and its
          usage goes on under the same key.
        </p>
        <Radio.Group
          label={`How long the old secret ${of.hint} works on`}
          value={overlap}
          onChange={setOverlap}
          error={fieldError(rotate.error, "overlap")}
        >
          <Stack gap="xs" mt="xs">
            {overlaps.map(({ value, label, about }) => (
              <Radio key={value} value={value} label={label} description={about} />
            ))}
          </Stack>
        </Radio.Group>
        {of.previous !== null && (
          <p className={classes.warning}>
            The secret before this one, {of.previous.hint}, still works. It ends with this rotation,
            at once.
          </p>
        )}
        <FormProblem problem={rotate.error} fields={["overlap"]} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={rotate.isPending}>
            Rotate the key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
