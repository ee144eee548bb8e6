import { Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { ApiProblem, Reply } from "../../api.ts";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { FormProblem, fieldError } from "../../components/feedback/form-problem.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { DoorHeader } from "../../components/layout/signed-out-header.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { useChange } from "../../queries.ts";
import { useSession } from "../../session.tsx";
import { type MissingFactor, SecondStep } from "../sign-in/second-step.tsx";
import { emailProblem, leastPassword, passwordProblem } from "./password.ts";

type Invite = Reply<"POST /api/invites/look">;

/** Where a link of an invitation, or of a new password, leads. */
export function Page() {
  // After the #, so that it is in no server's log.
  const [token] = useState(() => location.hash.slice(1));
  const look = useChange("POST /api/invites/look");
  const { mutate } = look;
  useEffect(() => mutate({ body: { token } }), [mutate, token]);
  if (token === "")
    return (
      <DoorHeader
        title="This link is incomplete"
        about="Copy the whole link and open it again. The part after the # is required."
      />
    );
  if (look.isError)
    return (
      <>
        <DoorHeader
          title={
            look.error.status === 404 ? "This link is no longer valid" : "Could not check the link"
          }
        />
        {look.error.status === 404 ? (
          <p>
            It was used, it expired or it was revoked. Ask the sender for a new link, or{" "}
            <Link to="/sign-in">sign in</Link>.
          </p>
        ) : (
          <ErrorNotice problem={look.error} onRetry={() => mutate({ body: { token } })} />
        )}
      </>
    );
  if (look.data === undefined) return <Loading label="Checking the link" />;
  return <Accept token={token} invite={look.data} />;
}

interface AcceptProps {
  readonly token: string;
  readonly invite: Invite;
}

function Accept(props: AcceptProps) {
  const navigate = useNavigate();
  const [missing, setMissing] = useState<MissingFactor>();
  const [expired, setExpired] = useState<ApiProblem | null>(null);
  const enter = () => void navigate({ to: "/", replace: true });
  if (missing !== undefined) {
    const leave = (late: ApiProblem | null) => {
      setExpired(late);
      setMissing(undefined);
    };
    return <SecondStep missing={missing} onDone={enter} onLeave={leave} />;
  }
  const next = (factor: MissingFactor | null) => {
    setExpired(null);
    if (factor === null) enter();
    else setMissing(factor);
  };
  return <AcceptForm {...props} late={expired} onDone={next} />;
}

interface AcceptFormProps extends AcceptProps {
  /** Of a second step that came too late. */
  readonly late: ApiProblem | null;
  /** With what is missing still; null: signed in. */
  readonly onDone: (missing: MissingFactor | null) => void;
}

function AcceptForm({ token, invite, late, onDone }: AcceptFormProps) {
  const { user } = useSession();
  const isReset = invite.kind === "reset";
  const accept = useChange("POST /api/invites/accept", {
    onDone: ({ second_factor: missing }) => onDone(missing),
  });
  const problem = accept.error ?? late;
  const form = useForm({
    initialValues: {
      name: "",
      email: invite.email ?? "",
      password: "",
      again: "",
    },
    validate: {
      name: (name) => (isReset || name.trim() !== "" ? null : "Enter your name."),
      email: (email) => (isReset ? null : emailProblem(email)),
      password: passwordProblem,
      again: (again, { password }) => (again === password ? null : "Passwords do not match."),
    },
  });
  const submit = form.onSubmit(({ name, email, password }) =>
    accept.mutate({ body: { token, name, email, password } }),
  );
  return (
    <form onSubmit={submit} noValidate>
      <DoorHeader title={titleOf(invite)} about={<About invite={invite} />} />
      <Stack gap="md">
        <FormProblem problem={problem} fields={["name", "email", "password"]} />
        {user !== null && !isReset && (
          <p>You are signed in as {user.email}. Joining signs you in with the email below.</p>
        )}
        {!isReset && (
          <TextInput
            label="Your name"
            autoComplete="name"
            autoFocus
            {...form.getInputProps("name")}
            error={form.errors["name"] ?? fieldError(problem, "name")}
          />
        )}
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          readOnly={invite.email !== null}
          {...form.getInputProps("email")}
          error={form.errors["email"] ?? fieldError(problem, "email")}
        />
        <PasswordInput
          label={isReset ? "New password" : "Password"}
          description={`At least ${leastPassword} characters. A few random words are easy to remember.`}
          autoComplete="new-password"
          autoFocus={isReset}
          visibilityToggleButtonProps={{ "aria-label": "Show password" }}
          {...form.getInputProps("password")}
          error={form.errors["password"] ?? fieldError(problem, "password")}
        />
        <PasswordInput
          label="Confirm password"
          autoComplete="new-password"
          visibilityToggleButtonProps={{ "aria-label": "Show password" }}
          {...form.getInputProps("again")}
        />
        <Button type="submit" size="md" fullWidth loading={accept.isPending}>
          {isReset ? "Set password and sign in" : "Join and sign in"}
        </Button>
      </Stack>
    </form>
  );
}

function titleOf({ kind, account_name }: Invite): string {
  if (kind === "reset") return "Choose a new password";
  if (kind === "operator") return "Join svc gateway as an operator";
  return `Join ${account_name ?? "the account"}`;
}

function About({ invite: { kind, role, expires_at } }: { readonly invite: Invite }) {
  const until = (
    <>
      This link expires <Moment at={expires_at} />.
    </>
  );
  if (kind === "operator") return <>You can view and change everything. {until}</>;
  if (kind === "member")
    return (
      <>
        You are invited as {role === "owner" ? "an" : "a"} {role ?? "member"}. {until}
      </>
    );
  return <>You will be signed out everywhere else. {until}</>;
}
