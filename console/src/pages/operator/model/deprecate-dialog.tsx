import { Button, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import { IconBox } from "@tabler/icons-react";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { Loading } from "../../../components/feedback/loading.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { useApi, useChange } from "../../../queries.ts";

type Entry = Reply<"GET /api/catalog/:model">;

interface DeprecateDialogProps {
  readonly entry: Entry;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function DeprecateDialog({ entry, isOpen, onClose }: DeprecateDialogProps) {
  const catalog = useApi("GET /api/catalog", {}, { enabled: isOpen });
  // Only one that stays can take over.
  const successors = catalog.data?.filter(
    (one) =>
      one.id !== entry.id &&
      one.endpoint === entry.endpoint &&
      one.input === entry.input &&
      one.served &&
      one.deprecated_at === null,
  );
  return (
    <Modal opened={isOpen} onClose={onClose} title={`Deprecate ${entry.id}`} size="md">
      {successors === undefined && <Loading lines={4} />}
      {successors?.length === 0 && (
        <EmptyState
          icon={IconBox}
          title="No model could take over"
          about="A replacement must be active, served and of the same endpoint. Add one first."
        />
      )}
      {successors !== undefined && successors.length > 0 && (
        <DeprecateForm
          entry={entry}
          successors={successors.map(({ id }) => id)}
          onClose={onClose}
        />
      )}
    </Modal>
  );
}

interface DeprecateFormProps {
  readonly entry: Entry;
  readonly successors: readonly string[];
  readonly onClose: () => void;
}

const dayOf = (moment: string | null) => moment?.slice(0, 10) ?? "";

function DeprecateForm({ entry, successors, onClose }: DeprecateFormProps) {
  const isDeprecated = entry.status === "deprecated";
  const known = successors.find((id) => id === entry.replacement) ?? successors[0] ?? "";
  const [replacement, setReplacement] = useState(known);
  const [from, setFrom] = useState(isDeprecated ? "" : dayOf(entry.deprecated_at));
  const [retires, setRetires] = useState(dayOf(entry.retires_at));
  const deprecate = useChange("POST /api/catalog/:model/deprecate", {
    onDone: () => {
      say(`${entry.id} is announced to end.`);
      onClose();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        deprecate.mutate({
          params: { model: entry.id },
          body: { retires, replacement, ...(from === "" ? {} : { from }) },
        });
      }}
    >
      <Stack gap="md">
        <NativeSelect
          label="Model to use instead"
          data-autofocus
          value={replacement}
          onChange={(event) => setReplacement(event.currentTarget.value)}
          error={fieldError(deprecate.error, "replacement")}
          data={[...successors]}
        />
        {!isDeprecated && (
          <TextInput
            label="Deprecated from (optional)"
            description="Empty: from now on. Replies then carry the announcement."
            type="date"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
            error={fieldError(deprecate.error, "from")}
          />
        )}
        <TextInput
          label="Retires on"
          description="From the beginning of this day, UTC, calls to it are refused."
          type="date"
          required
          value={retires}
          onChange={(event) => setRetires(event.currentTarget.value)}
          error={fieldError(deprecate.error, "retires")}
        />
        <FormProblem problem={deprecate.error} fields={["replacement", "from", "retires"]} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={deprecate.isPending}>
            Deprecate it
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
