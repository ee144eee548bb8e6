import { ActionIcon, Button } from "@mantine/core";
import { IconCircle, IconCircleCheck, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Reply } from "../../api.ts";
import { Panel } from "../../components/layout/panel.tsx";
import { formatCount } from "../../format/figures.ts";
import { useApi } from "../../queries.ts";
import { useAccounts, useUser } from "../../session.tsx";
import { useDismissed } from "../../shell/dismissals.ts";
import classes from "./setup.module.css";

interface Step {
  readonly title: string;
  readonly about: string;
  readonly isDone: boolean;
  /** Where it is done. */
  readonly verb: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

/** What is left to set up, as the data says. It stays until all is done, or it is dismissed. */
export function SetupChecklist({ account }: { readonly account: string | undefined }) {
  const user = useUser();
  if (account === undefined) return <OperatorSetup />;
  // An operator who looks at an account has a list of their own.
  const isOwner = user.accounts.some(({ id, role }) => id === account && role === "owner");
  return isOwner && !user.is_operator ? <OwnerSetup account={account} /> : null;
}

function OperatorSetup() {
  const [isDismissed, dismiss] = useDismissed("setup");
  const setup = useApi("GET /api/setup", {}, { enabled: !isDismissed });
  const accounts = useAccounts();
  if (isDismissed || setup.data === undefined) return null;
  const only = accounts.length === 1 ? accounts[0]?.id : undefined;
  return (
    <Checklist
      title="Set up your gateway"
      steps={operatorSteps(setup.data, only)}
      onDismiss={dismiss}
    />
  );
}

function OwnerSetup({ account }: { readonly account: string }) {
  const [isDismissed, dismiss] = useDismissed(`setup:${account}`);
  const params = { account };
  const setup = useApi("GET /api/accounts/:account/setup", { params }, { enabled: !isDismissed });
  if (isDismissed || setup.data === undefined) return null;
  return (
    <Checklist
      title="Set up this account"
      steps={ownerSteps(setup.data, account)}
      onDismiss={dismiss}
    />
  );
}

/** `only`: the account, where there is no other to choose. */
export function operatorSteps(
  setup: Reply<"GET /api/setup">,
  only: string | undefined,
): readonly Step[] {
  const { providers, served_models: served, unpriced_models: unpriced } = setup;
  const { keys, members, budgets } = setup;
  return [
    {
      title: "Connect a provider",
      about:
        providers === 0 && served > 0
          ? `The embedded engine already serves ${countOf(served, "model")}. A provider adds more.`
          : "A vendor with its key, or your own server with its address.",
      isDone: providers > 0,
      verb: "Add provider",
      to: "/operator/providers",
      search: { new: "1" },
    },
    {
      title: "Price your models",
      about:
        unpriced > 0
          ? `${countOf(unpriced, "model")} ${unpriced === 1 ? "needs" : "need"} a price. Enter 0 for free.`
          : "A model is served once it has a route and a price.",
      isDone: served > 0 && unpriced === 0,
      verb: "Set prices",
      to: unpriced > 0 || served > 0 ? "/operator/prices" : "/operator/catalog",
    },
    {
      title: "Create a key",
      about: "Applications call models with a key. Its account pays.",
      isDone: keys > 0,
      verb: "Create key",
      to: "/operator/keys",
      search: { new: "1" },
    },
    {
      title: "Invite a member",
      about: "Owners and developers manage their account themselves.",
      isDone: members > 0,
      verb: only === undefined ? "Choose account" : "Invite member",
      ...(only === undefined
        ? { to: "/operator/accounts" }
        : { to: `/a/${only}/members`, search: { new: "1" } }),
    },
    {
      title: "Set a budget",
      about: "Cap what an account or a key can spend per day or month.",
      isDone: budgets > 0,
      verb: only === undefined ? "Choose account" : "Set budget",
      to: only === undefined ? "/operator/accounts" : `/operator/accounts/${only}`,
    },
  ];
}

export function ownerSteps(
  { keys, calls, members, budgets }: Reply<"GET /api/accounts/:account/setup">,
  account: string,
): readonly Step[] {
  const at = (page: string) => `/a/${account}/${page}`;
  return [
    {
      title: "Create a key",
      about: "One per application, so that you can revoke each on its own.",
      isDone: keys > 0,
      verb: "Create key",
      to: at("keys"),
      search: { new: "1" },
    },
    {
      title: "Make a call",
      about: "From your code, or in the playground.",
      isDone: calls,
      verb: "Open playground",
      to: at("playground"),
    },
    {
      title: "Invite a member",
      about: "Developers create keys, viewers see usage.",
      isDone: members > 1,
      verb: "Invite member",
      to: at("members"),
      search: { new: "1" },
    },
    {
      title: "Set a budget",
      about: "Cap what a key can spend per day or month.",
      isDone: budgets > 0,
      verb: "Edit keys",
      to: at("keys"),
    },
  ];
}

const countOf = (count: number, noun: string) =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

interface ChecklistProps {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly onDismiss: () => void;
}

function Checklist({ title, steps, onDismiss }: ChecklistProps): ReactNode {
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  // The first that is left is the one to do now.
  const next = steps.findIndex(({ isDone }) => !isDone);
  return (
    <div className={classes.place}>
      <Panel
        title={title}
        about={`${done} of ${steps.length} done`}
        actions={
          <ActionIcon aria-label="Dismiss checklist" onClick={onDismiss}>
            <IconX size={16} />
          </ActionIcon>
        }
      >
        <ol className={classes.steps}>
          {steps.map((step, at) => (
            <StepView key={step.title} step={step} isNext={at === next} />
          ))}
        </ol>
      </Panel>
    </div>
  );
}

function StepView({ step, isNext }: { readonly step: Step; readonly isNext: boolean }) {
  const { title, about, isDone, verb, to, search } = step;
  return (
    <li className={classes.step} data-done={isDone}>
      {isDone ? (
        <IconCircleCheck size={20} aria-label="Done:" />
      ) : (
        <IconCircle size={20} aria-label="To do:" />
      )}
      <div className={classes.words}>
        <h3>{title}</h3>
        {!isDone && <p>{about}</p>}
      </div>
      {!isDone && (
        <Button
          size="xs"
          variant={isNext ? "filled" : "default"}
          renderRoot={(props) => <Link to={to} search={search ?? {}} {...props} />}
        >
          {verb}
        </Button>
      )}
    </li>
  );
}
