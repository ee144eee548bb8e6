import { NativeSelect, TextInput } from "@mantine/core";
import { IconBox } from "@tabler/icons-react";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { DialogBody } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { dayOf, dayStartText } from "../../../format/moments.ts";
import { useApi } from "../../../queries.ts";

type Entry = Reply<"GET /api/catalog/:model">;

export function Deprecate({ entry }: { readonly entry: Entry }) {
  const catalog = useApi("GET /api/catalog");
  // Only one that stays can take over.
  const successors = catalog.data?.filter(
    (one) =>
      one.id !== entry.id &&
      one.endpoint === entry.endpoint &&
      one.input === entry.input &&
      one.served &&
      one.deprecated_at === null,
  );
  if (successors !== undefined && successors.length > 0)
    return <DeprecateForm entry={entry} successors={successors.map(({ id }) => id)} />;
  return (
    <DialogBody title={`Deprecate ${entry.id}`}>
      {successors === undefined ? (
        <Loading lines={4} />
      ) : (
        <EmptyState
          icon={IconBox}
          title="No replacement available"
          about="A replacement must be active and served, and have the same endpoint. Add one first."
        />
      )}
    </DialogBody>
  );
}

interface DeprecateFormProps {
  readonly entry: Entry;
  readonly successors: readonly string[];
}

const toDay = (moment: string | null) => (moment === null ? "" : dayOf(Date.parse(moment)));

function DeprecateForm({ entry, successors }: DeprecateFormProps) {
  const isDeprecated = entry.status === "deprecated";
  const form = useForm({
    route: "POST /api/catalog/:model/deprecate",
    values: {
      replacement: successors.find((id) => id === entry.replacement) ?? successors[0] ?? "",
      from: isDeprecated ? "" : toDay(entry.deprecated_at),
      retires: toDay(entry.retires_at),
    },
    toInput: ({ from, retires, replacement }) => ({
      params: { model: entry.id },
      body: {
        replacement,
        retires: dayStartText(retires),
        ...(from === "" ? {} : { from: dayStartText(from) }),
      },
    }),
    onDone: () => say(`Deprecated ${entry.id}.`),
  });
  return (
    <FormDialog title={`Deprecate ${entry.id}`} form={form} submit="Deprecate">
      <NativeSelect
        label="Replacement"
        data-autofocus
        data={[...successors]}
        {...form.text("replacement")}
      />
      {!isDeprecated && (
        <TextInput
          label="Deprecated from (optional)"
          description="Leave empty to deprecate it now. Replies then include a deprecation notice."
          type="date"
          {...form.text("from")}
        />
      )}
      <TextInput
        label="Retires on"
        description="Calls are rejected from the start of this day."
        type="date"
        required
        {...form.text("retires")}
      />
    </FormDialog>
  );
}
