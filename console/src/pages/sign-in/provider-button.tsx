import { Button, Stack } from "@mantine/core";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { leaveForProvider } from "../../identity-flow.ts";
import { useWork } from "../../queries.ts";
import { safePath } from "./safe-path.ts";

interface ProviderButtonProps {
  /** Of the identity provider. */
  readonly name: string;
  readonly then: string | undefined;
}

export function ProviderButton({ name, then }: ProviderButtonProps) {
  const leave = useWork(() => leaveForProvider({ kind: "enter", next: safePath(then) }));
  return (
    <Stack gap="md">
      <ErrorNotice problem={leave.error} />
      <Button size="md" fullWidth loading={leave.isPending} onClick={() => leave.mutate(undefined)}>
        Sign in with {name}
      </Button>
    </Stack>
  );
}
