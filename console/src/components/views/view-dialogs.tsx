import { ActionIcon, Button, Group, Stack, TextInput } from "@mantine/core";
import { useForm as useFields } from "@mantine/form";
import { IconTrash } from "@tabler/icons-react";
import { useChange } from "../../queries.ts";
import { ErrorNotice } from "../feedback/error-notice.tsx";
import { fieldError } from "../feedback/form-problem.tsx";
import { say } from "../feedback/toasts.tsx";
import { Dialog, DialogBody } from "../form/dialog.tsx";
import { FormDialog } from "../form/form-dialog.tsx";
import { useForm } from "../form/use-form.ts";
import type { SavedView } from "./search-text.ts";

interface ViewTarget extends Pick<SavedView, "page" | "search"> {
  readonly account: string | undefined;
}

export interface ViewDialogProps {
  readonly isOpen: boolean;
  readonly open: "save" | "manage" | undefined;
  readonly onClose: () => void;
  readonly target: ViewTarget;
  readonly views: readonly SavedView[];
}

export function ViewDialogs({ open, onClose, target, views }: ViewDialogProps) {
  return (
    <Dialog of={open} onClose={onClose}>
      {(which) => (which === "save" ? <SaveView target={target} /> : <ManageViews views={views} />)}
    </Dialog>
  );
}

function SaveView({ target }: { readonly target: ViewTarget }) {
  const { page, account, search } = target;
  const form = useForm({
    route: "POST /api/me/views",
    values: { name: "" },
    toInput: ({ name }) => ({
      body: { page, name: name.trim(), search, ...(account === undefined ? {} : { account }) },
    }),
    onDone: ({ name }) => say(`View “${name}” saved.`),
  });
  return (
    <FormDialog title="Save current view" form={form} submit="Save view">
      <TextInput
        label="Name"
        description="Saves the filters on this page. Only you can see your views."
        required
        maxLength={60}
        data-autofocus
        {...form.text("name")}
      />
    </FormDialog>
  );
}

function ManageViews({ views }: { readonly views: readonly SavedView[] }) {
  return (
    <DialogBody title="Saved views">
      {views.length === 0 ? (
        <p className="soft">No saved views.</p>
      ) : (
        <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
          {views.map((view) => (
            <li key={view.id}>
              <ViewRow view={view} />
            </li>
          ))}
        </Stack>
      )}
    </DialogBody>
  );
}

function ViewRow({ view: { id, name } }: { readonly view: SavedView }) {
  const params = { id };
  const fields = useFields({ initialValues: { name } });
  const rename = useChange("PATCH /api/me/views/:id", { onDone: () => say("View renamed.") });
  const remove = useChange("DELETE /api/me/views/:id", {
    onDone: () => say(`View “${name}” deleted.`),
  });
  const isChanged = fields.values.name.trim() !== name;
  return (
    <form onSubmit={fields.onSubmit((body) => rename.mutate({ params, body }))}>
      <Group gap={8} wrap="nowrap" align="flex-start">
        <TextInput
          flex="1"
          aria-label={`Name of the view ${name}`}
          maxLength={60}
          required
          {...fields.getInputProps("name")}
          error={fieldError(rename.error, "name")}
        />
        <Button type="submit" variant="default" disabled={!isChanged} loading={rename.isPending}>
          Rename
        </Button>
        <ActionIcon
          size={36}
          variant="default"
          aria-label={`Delete the view ${name}`}
          loading={remove.isPending}
          onClick={() => remove.mutate({ params })}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
      <ErrorNotice problem={remove.error} />
    </form>
  );
}
