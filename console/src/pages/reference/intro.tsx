import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../components/code/code-block.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { baseUrlOf, type Endpoint, type OpenApi } from "./document.ts";
import classes from "./endpoint/endpoint.module.css";
import { Method, Words } from "./endpoint/words.tsx";
import nav from "./nav.module.css";

interface IntroProps {
  readonly gateway: OpenApi;
  readonly platform: OpenApi;
  readonly endpoints: readonly Endpoint[];
}

/** Before an endpoint is chosen: the two APIs and how to authenticate. */
export function Intro({ gateway, platform, endpoints }: IntroProps) {
  const baseUrl = baseUrlOf(gateway);
  return (
    <div className={classes.intro}>
      <Panel title="Gateway API" about={gateway.info.description}>
        <dl className={classes.facts}>
          <dt>Base URL</dt>
          <dd>
            <code>{baseUrl}</code>
          </dd>
          <dt>Key</dt>
          <dd>
            <code>Authorization: Bearer sk-svc-…</code> or <code>x-api-key: sk-svc-…</code>
          </dd>
          <dt>Errors</dt>
          <dd>
            <code>{`{ "error": { "message", "type", "param", "code" } }`}</code>, and for Messages{" "}
            <code>{`{ "type": "error", "error": { … }, "request_id" }`}</code>
          </dd>
        </dl>
        <ul className={classes.list}>
          {endpoints.map(({ id, method, path, summary, isPreview }) => (
            <li key={id}>
              <Link to="/reference" hash={id}>
                <Method method={method} />
                <code>{path}</code>
                <span>
                  {summary} {isPreview && <em className={nav.preview}>Preview</em>}
                </span>
              </Link>
            </li>
          ))}
        </ul>
        <CodeBlock
          what="client settings"
          samples={[
            { label: "Environment", code: `OPENAI_BASE_URL=${baseUrl}\nOPENAI_API_KEY=sk-svc-…` },
          ]}
        />
      </Panel>
      <Panel title="Platform API">
        <p className={classes.about}>
          <Words text={platform.info.description} />
        </p>
        <p className={classes.about}>
          A token with the right scopes can do everything the console can, except invite people,
          change roles, reset passwords, end sessions or create tokens.
        </p>
      </Panel>
      <p className={classes.about}>
        OpenAPI: <a href="/openapi.json">gateway</a>, <a href="/api/openapi.json">platform</a>. The{" "}
        <Link to="/changelog">changelog</Link> lists all changes.
      </p>
    </div>
  );
}
