import { Button, Group, Modal, Radio, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ApiProblem, Reply } from "../../../api.ts";
import { FormProblem, fieldError } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { useChange } from "../../../queries.ts";
import { filledTexts, PriceFields, type PriceTexts } from "./price-fields.tsx";

type Entry = Reply<"GET /api/catalog">[number];

interface SetPriceDialogProps {
  /** Undefined: closed. */
  readonly entry: Entry | undefined;
  readonly onClose: () => void;
}

export function SetPriceDialog({ entry, onClose }: SetPriceDialogProps) {
  return (
    <Modal
      opened={entry !== undefined}
      onClose={onClose}
      title={`Price of ${entry?.id ?? ""}`}
      size="lg"
    >
      {entry !== undefined && <PriceForm entry={entry} onClose={onClose} />}
    </Modal>
  );
}

/** Inside the dialog, so that it begins with the price in force each time. */
function PriceForm({ entry, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const [texts, setTexts] = useState<PriceTexts>(entry.price ?? {});
  const [when, setWhen] = useState("now");
  const [from, setFrom] = useState("");
  const set = useChange("POST /api/prices", {
    onDone: () => {
      say(`The price of ${entry.id} is set.`);
      onClose();
    },
  });
  const submit = () =>
    set.mutate({
      body: {
        model: entry.id,
        price: filledTexts(texts),
        ...(when === "later" ? { from } : {}),
      },
    });
  const names = entry.classes.map(({ name }) => name);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="lg">
        <PriceFields
          classes={entry.classes}
          texts={texts}
          onEdit={setTexts}
          problem={set.error}
          hasFocus
        />
        <WhenFields when={when} from={from} problem={set.error} onWhen={setWhen} onFrom={setFrom} />
        <FormProblem
          problem={set.error}
          fields={[...names, ...(when === "later" ? ["from"] : [])]}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={set.isPending}>
            Set the price
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface WhenFieldsProps {
  readonly when: string;
  readonly from: string;
  readonly problem: ApiProblem | null;
  readonly onWhen: (when: string) => void;
  readonly onFrom: (day: string) => void;
}

function WhenFields({ when, from, problem, onWhen, onFrom }: WhenFieldsProps) {
  return (
    <>
      <Radio.Group label="In force" value={when} onChange={onWhen}>
        <Group mt={6} gap="lg">
          <Radio value="now" label="Now, for calls that begin from now on" />
          <Radio value="later" label="From a day on" />
        </Group>
      </Radio.Group>
      {when === "later" && (
        <TextInput
          label="From the beginning of this day, UTC"
          type="date"
          required
          value={from}
          onChange={(event) => onFrom(event.currentTarget.value)}
          error={fieldError(problem, "from")}
        />
      )}
    </>
  );
}
