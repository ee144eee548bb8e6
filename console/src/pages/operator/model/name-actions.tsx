import { Button, Checkbox, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";

type Entry = Reply<"GET /api/catalog/:model">;

/** Rename and delete, which the platform allows for models without calls. */
export function NameActions({ entry }: { readonly entry: Entry }) {
  const navigate = useNavigate();
  const [isRenaming, setRenaming] = useState(false);
  const { id } = entry;
  if (entry.source.file !== null) return null;
  return (
    <>
      <Button variant="default" onClick={() => setRenaming(true)}>
        Rename
      </Button>
      <ConfirmButton
        question={`Delete ${id}?`}
        consequence="Its routes, prices and aliases are deleted. A model that has been called cannot be deleted: deprecate and retire it instead."
        verb="Delete"
        route="DELETE /api/catalog/:model"
        input={{ params: { model: id } }}
        onDone={({ keys }) => {
          const left = keys.length === 0 ? "" : ` Keys that still name it: ${keys.length}.`;
          say(`Deleted ${id}.${left}`);
          return navigate({ to: "/operator/catalog" });
        }}
      >
        Delete
      </ConfirmButton>
      <Dialog of={isRenaming} onClose={() => setRenaming(false)}>
        {() => <RenameForm id={id} />}
      </Dialog>
    </>
  );
}

function RenameForm({ id }: { readonly id: string }) {
  const navigate = useNavigate();
  const form = useForm({
    route: "POST /api/catalog/:model/rename",
    values: { id, keep_alias: true },
    toInput: (values) => ({
      params: { model: id },
      body: { id: values.id.trim(), keep_alias: values.keep_alias },
    }),
    onDone: (entry) => {
      say(`Renamed ${id} to ${entry.id}.`);
      return navigate({ to: "/operator/catalog/$model", params: { model: entry.id } });
    },
  });
  return (
    <FormDialog title={`Rename ${id}`} form={form} submit="Rename">
      <TextInput
        label="New ID"
        description="A model that has been called keeps its id. Give it an alias instead."
        required
        maxLength={128}
        data-autofocus
        {...form.text("id")}
      />
      <Checkbox
        label={`Keep ${id} as an alias`}
        checked={form.values.keep_alias}
        onChange={(event) => form.edit({ keep_alias: event.currentTarget.checked })}
      />
    </FormDialog>
  );
}
