import { Button, Group, Stack } from "@mantine/core";
import { formatExact } from "../../format/moments.ts";
import { ShownOnce } from "../code/shown-once.tsx";
import { DialogBody, useDialog } from "./dialog.tsx";

interface ShownLinkProps {
  readonly title: string;
  readonly made: { readonly link: string; readonly expires_at: string };
}

/** In a dialog: a link for another person, which the user sends. */
export function ShownLink({ title, made }: ShownLinkProps) {
  const dialog = useDialog();
  return (
    <DialogBody title={title}>
      <Stack>
        <ShownOnce secret={made.link} what="the link">
          Copy this link now and send it yourself. It is shown only once, and no email is sent.
        </ShownOnce>
        <p>
          The link works once and expires on <time>{formatExact(Date.parse(made.expires_at))}</time>
          .
        </p>
        <Group justify="flex-end">
          <Button onClick={dialog?.close}>Done</Button>
        </Group>
      </Stack>
    </DialogBody>
  );
}
