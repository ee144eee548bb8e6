import { Button, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { ApiProblem, call } from "../../api.ts";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { DoorHeader } from "../../components/layout/signed-out-header.tsx";
import { type IdentityFlow, takeIdentityFlow } from "../../identity-flow.ts";
import { sessionKey, useWork } from "../../queries.ts";
import { useSession } from "../../session.tsx";
import { safePath } from "./safe-path.ts";
import { type MissingFactor, SecondStep } from "./second-step.tsx";

/** Where the identity provider sends the browser back to. */
export function Page() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { sign_in: signIn } = useSession();
  const [missing, setMissing] = useState<{ factor: MissingFactor; flow: IdentityFlow }>();
  const enter = async (flow: IdentityFlow) => {
    await client.refetchQueries({ queryKey: sessionKey });
    if (flow.kind === "connect") say(`Connected to ${signIn.provider ?? "the identity provider"}.`);
    await navigate({ href: safePath(flow.next), replace: true });
  };
  const finish = useWork(finishFlow, {
    onDone: ({ factor, flow }) =>
      factor === null ? void enter(flow) : setMissing({ factor, flow }),
  });
  const { mutate } = finish;
  const hasBegun = useRef(false);
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    const { search } = location;
    // What the provider sent works once, and is for no history and no other page.
    history.replaceState(history.state, "", location.pathname);
    mutate(search);
  }, [mutate]);
  if (missing !== undefined)
    return (
      <SecondStep
        missing={missing.factor}
        onDone={() => void enter(missing.flow)}
        onLeave={() => location.assign("/sign-in")}
      />
    );
  if (finish.error === null)
    return (
      <>
        <DoorHeader title="Signing in" />
        <Loading lines={2} label="Signing in" />
      </>
    );
  return (
    <>
      <DoorHeader title="You are not signed in" />
      <Stack gap="md">
        <ErrorNotice problem={finish.error} />
        <Button size="md" fullWidth onClick={() => location.assign("/sign-in")}>
          Back to sign-in
        </Button>
      </Stack>
    </>
  );
}

async function finishFlow(search: string) {
  const flow = takeIdentityFlow();
  if (flow === undefined || search === "")
    throw new ApiProblem({
      status: 409,
      code: "expired",
      message: "This sign-in was started in another window or is already complete. Start again.",
    });
  const body = { ticket: flow.ticket, search };
  if (flow.kind === "connect") {
    await call("POST /api/me/identity/finish", { body });
    return { flow, factor: null };
  }
  const { second_factor: factor } = await call("POST /api/session/oidc/finish", { body });
  return { flow, factor };
}
