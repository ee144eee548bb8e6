import { Button, Group, Stack } from "@mantine/core";
import type { Reply } from "../../api.ts";
import { formatExact } from "../../format/moments.ts";
import { ShownOnce } from "../code/shown-once.tsx";
import { Notice } from "../feedback/error-notice.tsx";
import { DialogBody, useDialog } from "./dialog.tsx";

export type MadeLink = Reply<"POST /api/people/invites">;

interface ShownLinkProps {
  readonly title: string;
  readonly made: MadeLink;
}

/** In a dialog: a link for another person, which was mailed or which the user sends. */
export function ShownLink({ title, made }: ShownLinkProps) {
  const dialog = useDialog();
  return (
    <DialogBody title={title}>
      <Stack>
        <LinkNews made={made} what="the link" />
        <Group justify="flex-end">
          <Button onClick={dialog?.close} data-autofocus>
            Done
          </Button>
        </Group>
      </Stack>
    </DialogBody>
  );
}

interface LinkNewsProps {
  readonly made: MadeLink;
  /** `the link`. */
  readonly what: string;
}

export function LinkNews({ made, what }: LinkNewsProps) {
  const { link, mailed_to: to, mail_problem: problem } = made;
  return (
    <>
      {problem !== null && <Notice title={`The email was not sent. ${problem}`} />}
      {link === null ? (
        <p role="status">
          Sent {what} to <strong className="anywhere">{to}</strong>.
        </p>
      ) : (
        <ShownOnce secret={link} what={what}>
          Copy {what} now and send it yourself. It is shown only once, and no email is sent.
        </ShownOnce>
      )}
      <p>
        The link works once and expires on <time>{formatExact(Date.parse(made.expires_at))}</time>.
      </p>
    </>
  );
}
