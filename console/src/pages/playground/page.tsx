import { Tabs } from "@mantine/core";
import { IconBox, IconTerminal2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense, useMemo, useState } from "react";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { useSearchText } from "../../search.ts";
import { useAccount, useMay, useSession } from "../../session.tsx";
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
    Part: lazy(async () => ({ default: (await import("./chat/chat.tsx")).ChatMode })),
  },
  {
    endpoint: "embeddings",
    label: "Embeddings",
    Part: lazy(async () => ({
      default: (await import("./embeddings/text-embeddings.tsx")).EmbeddingsMode,
    })),
  },
  {
    endpoint: "speech",
    label: "Speech",
    Part: lazy(async () => ({ default: (await import("./speech/speech.tsx")).SpeechMode })),
  },
];

export function Page() {
  const account = useAccount();
  const mayCall = useMay("developer");
  return (
    <>
      <PageHeader
        title="Playground"
        about="Try a model before a program does. Calls are real: they are paid from this account's balance, and each answer has its receipt."
      />
      {mayCall ? <Playground key={account.id} account={account.id} /> : <OnlyLooking />}
    </>
  );
}

function OnlyLooking() {
  return (
    <EmptyState
      icon={IconTerminal2}
      title="Calls are for developers"
      about="Your role lets you look at this account, not spend its balance. An owner can make you a developer under Members."
    />
  );
}

function Playground({ account }: { readonly account: string }) {
  const access = useMemo(() => new GatewayAccess(account), [account]);
  const callable = useCallable(account);
  const { gateway_url: baseUrl } = useSession();
  if (callable.isPending) return <Loading lines={6} label="Asking which models can be called" />;
  // A failed look at the list later on must not take a conversation away.
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
      title="No model can be called yet"
      about={
        <>
          A model is here once it has a price and somebody who serves it. The operator sees to both;{" "}
          <Link to="/a/$account/models" params={{ account }}>
            Models
          </Link>{" "}
          lists what there is.
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
      <Tabs.List className={classes.modes ?? ""} aria-label="What to try">
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
                title={`No model for ${label.toLowerCase()}`}
                about="None of the models that this account may call is for this endpoint."
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
