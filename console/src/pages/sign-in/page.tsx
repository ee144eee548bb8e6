import { Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { DoorHeader } from "../../components/layout/signed-out-header.tsx";
import { sessionKey, useChange } from "../../queries.ts";
import { useSearchText } from "../../search.ts";
import { useSession } from "../../session.tsx";
import { Redirect } from "../../shell/signed-in.tsx";
import { safePath } from "./safe-path.ts";

export function Page() {
  const { user } = useSession();
  const [{ then }] = useSearchText();
  const client = useQueryClient();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const enter = useChange("POST /api/session", {
    onDone: () => void client.refetchQueries({ queryKey: sessionKey }),
  });
  if (user !== null) return <Redirect href={safePath(then)} />;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    enter.mutate({ body: { email, password } });
  };
  return (
    <form onSubmit={submit}>
      <DoorHeader title="Sign in" />
      <Stack gap="md">
        <ErrorNotice problem={enter.error} />
        <TextInput
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ "aria-label": "Show password" }}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" size="md" fullWidth loading={enter.isPending}>
          Sign in
        </Button>
        <Text size="sm" c="var(--svc-soft)">
          Forgot your password? Ask an operator for a reset link. First time here? Open the operator
          link that the server printed when it first started.
        </Text>
      </Stack>
    </form>
  );
}
