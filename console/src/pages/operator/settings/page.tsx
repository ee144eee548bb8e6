import { Group, Switch } from "@mantine/core";

import type { Reply } from "../../../api.ts";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loading } from "../../../components/feedback/loaded.tsx";
import { FindInput } from "../../../components/form/find-input.tsx";
import { PageHeader } from "../../../components/layout/page-header.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { formatBytes } from "../../../format/figures.ts";
import { useApi } from "../../../queries.ts";
import { useSearchText } from "../../../search.ts";
import classes from "./page.module.css";
import { SettingsTable } from "./settings-table.tsx";

type Settings = Reply<"GET /api/settings">;

export function Page() {
  const settings = useApi("GET /api/settings");
  return (
    <>
      <PageHeader
        title="Settings"
        about="What this server runs with, and where each setting comes from."
      />
      <ErrorNotice problem={settings.error} onRetry={() => settings.refetch()} />
      {settings.isPending && <Loading lines={8} label="Loading the settings" />}
      {settings.data !== undefined && (
        <>
          <Server settings={settings.data} />
          <InForce settings={settings.data.settings} />
          <Links settings={settings.data} />
        </>
      )}
    </>
  );
}

function Server({ settings }: { readonly settings: Settings }) {
  const { version, gateway_url, platform_url, data_directory, database_bytes } = settings;
  return (
    <Panel title="This server">
      <dl className={classes.facts}>
        <div>
          <dt>Version</dt>
          <dd>{version}</dd>
        </div>
        <div>
          <dt>Gateway, for callers</dt>
          <dd>
            <code className="small anywhere">{gateway_url}/v1</code>
          </dd>
        </div>
        <div>
          <dt>Platform, for people</dt>
          <dd>
            <code className="small anywhere">{platform_url}</code>
          </dd>
        </div>
        <div>
          <dt>Data directory</dt>
          <dd>
            <code className="small anywhere">{data_directory ?? "unknown"}</code>
          </dd>
        </div>
        <div>
          <dt>Database</dt>
          <dd>{database_bytes === null ? "unknown" : formatBytes(database_bytes)}</dd>
        </div>
      </dl>
    </Panel>
  );
}

function InForce({ settings }: { readonly settings: Settings["settings"] }) {
  const [search, setSearch] = useSearchText();
  const wanted = (search["find"] ?? "").trim().toLowerCase();
  const isChangedOnly = search["only"] === "changed";
  const shown = settings.filter(
    ({ name, about, source }) =>
      `${name} ${about}`.toLowerCase().includes(wanted) && !(isChangedOnly && source === "default"),
  );
  return (
    <Panel
      title="Settings in force"
      actions={
        <Group gap="8px 16px">
          <Switch
            label="Only those that were set"
            checked={isChangedOnly}
            onChange={(event) =>
              setSearch({ only: event.currentTarget.checked ? "changed" : undefined })
            }
          />
          <FindInput label="Find a setting" placeholder="Name or words" />
        </Group>
      }
      isFlush
    >
      <p className={`soft inset ${classes.how}`}>
        To change one, set its variable in the environment, or its name under <code>settings:</code>{" "}
        in <code>svc.yaml</code>, and start the server again. The environment goes before the file,
        and both go before the default.
      </p>
      <SettingsTable settings={shown} />
    </Panel>
  );
}

function Links({ settings }: { readonly settings: Settings }) {
  const links = [
    { href: "/healthz", label: "Health of the platform", about: "Answers while it runs" },
    {
      href: `${settings.gateway_url}/healthz`,
      label: "Health of the gateway",
      about: "For load balancers",
    },
    { href: "/metrics", label: "Metrics", about: "For Prometheus; SVC_METRICS says who may read" },
    { href: "/openapi.json", label: "OpenAPI of the gateway", about: "What callers use" },
    {
      href: "/api/openapi.json",
      label: "OpenAPI of the platform",
      about: "What this console uses",
    },
  ];
  return (
    <Panel title="For machines">
      <ul className={classes.links}>
        {links.map(({ href, label, about }) => (
          <li key={href}>
            <a href={href} target="_blank" rel="noreferrer">
              {label}
            </a>
            <small>{about}</small>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
