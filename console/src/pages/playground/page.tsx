import { Button, Select, Tabs } from "@mantine/core";
import { IconBox, IconBuilding, IconTerminal2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { type ComponentType, Suspense, useMemo, useState } from "react";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { useSearchText } from "../../search.ts";
import { useAccountId, useAccounts, useMay, useSession } from "../../session.tsx";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { PlaygroundAccount } from "./account.ts";
import { GatewayAccess } from "./gateway/gateway-access.ts";
import { TroubleNotice } from "./gateway/trouble-notice.tsx";
import { toTrouble } from "./gateway/use-run.ts";
import { type Endpoint, type ModeProps, type PlaygroundModel, useCallable } from "./models.ts";
import classes from "./playground.module.css";

interface Mode {
  readonly endpoint: Endpoint;
  readonly label: string;
  readonly Part: ComponentType<ModeProps>;
}

const modes: readonly Mode[] = [
  {
    endpoint: "chat",
    label: "Chat",
    Part: lazyPart(async () => (await import("./chat/chat.tsx")).ChatMode),
  },
  {
    endpoint: "embeddings",
    label: "Embeddings",
    Part: lazyPart(async () => (await import("./embeddings/text-embeddings.tsx")).EmbeddingsMode),
  },
  {
    endpoint: "speech",
    label: "Speech",
    Part: lazyPart(async () => (await import("./speech/speech.tsx")).SpeechMode),
  },
];

export function Page() {
  const named = useAccountId();
  return named === undefined ? <OfOperator /> : <OfAccount account={named} />;
}

function OfAccount({ account }: { readonly account: string }) {
  const mayCall = useMay("developer");
  return (
    <>
      <PageHeader
        title="Playground"
        about="Try models. Calls are charged to this account."
        hasTimes={false}
      />
      {mayCall ? <Playground key={account} account={account} /> : <OnlyLooking />}
    </>
  );
}

/** An operator calls on behalf of an account, which is part of the address. */
function OfOperator() {
  const [search, setSearch] = useSearchText();
  const accounts = useAccounts();
  const chosen = accounts.find(({ id }) => id === search["account"]) ?? accounts[0];
  return (
    <>
      <PageHeader
        title="Playground"
        about="Try models. Calls are charged to the account you choose."
        hasTimes={false}
        actions={
          chosen !== undefined && (
            <Select
              aria-label="Account to charge"
              leftSection={<IconBuilding size={16} />}
              data={accounts.map(({ id, name }) => ({ value: id, label: name }))}
              value={chosen.id}
              onChange={(account) => account !== null && setSearch({ account })}
              allowDeselect={false}
              searchable={accounts.length > 8}
              limit={50}
            />
          )
        }
      />
      {chosen === undefined ? (
        <EmptyState
          icon={IconBuilding}
          title="No accounts yet"
          about="Calls are charged to an account. Create one with credit first."
          action={
            <Button
              renderRoot={(props) => (
                <Link to="/operator/accounts" search={{ new: "1" }} {...props} />
              )}
            >
              Create account
            </Button>
          }
        />
      ) : (
        <Playground key={chosen.id} account={chosen.id} />
      )}
    </>
  );
}

function OnlyLooking() {
  return (
    <EmptyState
      icon={IconTerminal2}
      title="Only developers and owners can use the playground"
      about="Your role is read-only. Ask an owner to change it under Members."
    />
  );
}

function Playground({ account }: { readonly account: string }) {
  return (
    <PlaygroundAccount value={account}>
      <WithModels account={account} />
    </PlaygroundAccount>
  );
}

function WithModels({ account }: { readonly account: string }) {
  const access = useMemo(() => new GatewayAccess(account), [account]);
  const callable = useCallable(account);
  const { gateway_url: baseUrl } = useSession();
  if (callable.isPending) return <Loading lines={6} label="Loading models" />;
  // A failed refresh of the list must not discard a conversation.
  if (callable.data === undefined)
    return (
      <TroubleNotice trouble={toTrouble(callable.error)} onRetry={() => void callable.refetch()} />
    );
  if (callable.data.length === 0) return <NoModels account={account} />;
  return <Modes access={access} models={callable.data} baseUrl={baseUrl} />;
}

function NoModels({ account }: { readonly account: string }) {
  return (
    <EmptyState
      icon={IconBox}
      title="No models available yet"
      about={
        <>
          A model appears here once the operator has set its price and provider.{" "}
          <Link to="/a/$account/models" params={{ account }}>
            Models
          </Link>{" "}
          lists all models.
        </>
      }
    />
  );
}

interface ModesProps {
  readonly access: GatewayAccess;
  readonly models: readonly PlaygroundModel[];
  readonly baseUrl: string;
}

/** A mode is loaded when it is first opened, and then keeps what is in it. */
function Modes({ access, models, baseUrl }: ModesProps) {
  const [search, setSearch] = useSearchText();
  const [chosen, setChosen] = useState<Readonly<Partial<Record<Endpoint, string>>>>({});
  const asked = models.find(({ id }) => id === search["model"]);
  const named = asked?.endpoint ?? search["mode"];
  const current = modes.find(({ endpoint }) => endpoint === named)?.endpoint ?? "chat";
  const [opened, setOpened] = useState<readonly Endpoint[]>([]);
  if (!opened.includes(current)) setOpened([...opened, current]);
  const choose = (endpoint: Endpoint, id: string) => {
    setChosen((old) => ({ ...old, [endpoint]: id }));
    setSearch({ mode: endpoint, model: id });
  };
  return (
    <Tabs
      value={current}
      onChange={(value) => setSearch({ mode: value ?? "chat", model: undefined })}
    >
      <Tabs.List className={classes.modes ?? ""} aria-label="Model type">
        {modes.map(({ endpoint, label }) => (
          <Tabs.Tab key={endpoint} value={endpoint}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {modes.map(({ endpoint, label, Part }) => {
        const own = models.filter((model) => model.endpoint === endpoint);
        const model =
          (asked?.endpoint === endpoint ? asked : undefined) ??
          own.find(({ id }) => id === chosen[endpoint]) ??
          own.find(({ status, input }) => status === "active" && input === "text") ??
          own[0];
        return (
          <Tabs.Panel key={endpoint} value={endpoint}>
            {model === undefined ? (
              <EmptyState
                icon={IconBox}
                title={`No ${label.toLowerCase()} models`}
                about="This account has no models for this endpoint."
              />
            ) : (
              opened.includes(endpoint) && (
                <Suspense fallback={<Loading lines={6} />}>
                  <Part
                    access={access}
                    baseUrl={baseUrl}
                    models={own}
                    model={model}
                    onModel={(id) => choose(endpoint, id)}
                  />
                </Suspense>
              )
            )}
          </Tabs.Panel>
        );
      })}
    </Tabs>
  );
}
