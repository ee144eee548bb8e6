import { Button, Stack, TextInput } from "@mantine/core";
import type { SubmitEvent } from "react";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { DoorHeader } from "../../components/layout/signed-out-header.tsx";
import { useChange } from "../../queries.ts";

interface ForgottenProps {
  readonly email: string;
  readonly onEmail: (email: string) => void;
  readonly onLeave: () => void;
}

/** A reset link by mail. The reply does not show whether the address is known. */
export function Forgotten({ email, onEmail, onLeave }: ForgottenProps) {
  const ask = useChange("POST /api/session/forgot");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    ask.mutate({ body: { email } });
  };
  const back = (
    <Button variant="subtle" size="compact-sm" onClick={onLeave}>
      Back to sign-in
    </Button>
  );
  if (ask.isSuccess)
    return (
      <>
        <DoorHeader title="Check your email" />
        <Stack gap="md">
          <p role="status">
            If <strong className="anywhere">{email.trim()}</strong> has a password here, a link to
            choose a new password is on its way. It works once and expires after a day.
          </p>
          {back}
        </Stack>
      </>
    );
  return (
    <form onSubmit={submit}>
      <DoorHeader
        title="Reset your password"
        about="Enter your email address to get a link for choosing a new password."
      />
      <Stack gap="md">
        <FormProblem problem={ask.error} fields={["email"]} />
        <TextInput
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus
          value={email}
          onChange={(event) => onEmail(event.currentTarget.value)}
          error={fieldError(ask.error, "email")}
        />
        <Button type="submit" size="md" fullWidth loading={ask.isPending}>
          Send link
        </Button>
        {back}
      </Stack>
    </form>
  );
}
