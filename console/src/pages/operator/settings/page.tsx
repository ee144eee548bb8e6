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
        about="Active settings and where each value comes from."
        hasTimes={false}
      />
      <ErrorNotice problem={settings.error} onRetry={() => settings.refetch()} />
      {settings.isPending && <Loading lines={8} label="Loading settings" />}
      {settings.data !== undefined && (
        <>
          <Server settings={settings.data} />
          <ActiveSettings settings={settings.data.settings} />
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
          <dt>Gateway URL</dt>
          <dd>
            <code className="small anywhere">{gateway_url}/v1</code>
          </dd>
        </div>
        <div>
          <dt>Platform URL</dt>
          <dd>
            <code className="small anywhere">{platform_url}</code>
          </dd>
        </div>
        <div>
          <dt>Data directory</dt>
          <dd>
            <code className="small anywhere">{data_directory ?? "Unknown"}</code>
          </dd>
        </div>
        <div>
          <dt>Database</dt>
          <dd>{database_bytes === null ? "Unknown" : formatBytes(database_bytes)}</dd>
        </div>
      </dl>
    </Panel>
  );
}

function ActiveSettings({ settings }: { readonly settings: Settings["settings"] }) {
  const [search, setSearch] = useSearchText();
  const wanted = (search["find"] ?? "").trim().toLowerCase();
  const isChangedOnly = search["only"] === "changed";
  const shown = settings.filter(
    ({ name, about, source }) =>
      `${name} ${about}`.toLowerCase().includes(wanted) && !(isChangedOnly && source === "default"),
  );
  return (
    <Panel
      title="Active settings"
      actions={
        <Group gap="8px 16px">
          <Switch
            label="Only changed settings"
            checked={isChangedOnly}
            onChange={(event) =>
              setSearch({ only: event.currentTarget.checked ? "changed" : undefined })
            }
          />
          <FindInput label="Search settings" placeholder="Name or description" />
        </Group>
      }
      isFlush
    >
      <p className={`soft inset ${classes.how}`}>
        To change a setting, set its environment variable or its name under <code>settings:</code>{" "}
        in <code>svc.yaml</code>, then restart the server. Environment variables override the file.
      </p>
      <SettingsTable settings={shown} />
    </Panel>
  );
}

function Links({ settings }: { readonly settings: Settings }) {
  const links = [
    { href: "/healthz", label: "Platform health", about: "For uptime checks" },
    {
      href: `${settings.gateway_url}/healthz`,
      label: "Gateway health",
      about: "For load balancers",
    },
    { href: "/metrics", label: "Metrics", about: "For Prometheus. SVC_METRICS controls access." },
    { href: "/openapi.json", label: "Gateway OpenAPI", about: "The API for callers" },
    {
      href: "/api/openapi.json",
      label: "Platform OpenAPI",
      about: "The API behind this console",
    },
  ];
  return (
    <Panel title="Endpoints">
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
