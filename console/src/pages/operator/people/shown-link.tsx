import { Button, Group, Stack } from "@mantine/core";
import { ShownOnce } from "../../../components/code/shown-once.tsx";
import { formatExact } from "../../../format/moments.ts";
import classes from "./page.module.css";

interface ShownLinkProps {
  readonly made: { readonly link: string; readonly expires_at: string };
  readonly onClose: () => void;
}

export function ShownLink({ made, onClose }: ShownLinkProps) {
  return (
    <Stack>
      <ShownOnce secret={made.link} what="the link">
        Copy the link now and send it yourself: no mail is sent, and it is not shown again.
      </ShownOnce>
      <p className={classes.words}>
        It works once, until <time>{formatExact(Date.parse(made.expires_at))}</time>.
      </p>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
