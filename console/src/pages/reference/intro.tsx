import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../components/code/code-block.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { baseUrlOf, type Endpoint, type OpenApi } from "./document.ts";
import classes from "./endpoint/endpoint.module.css";
import { Method, Words } from "./endpoint/words.tsx";

interface IntroProps {
  readonly gateway: OpenApi;
  readonly platform: OpenApi;
  readonly endpoints: readonly Endpoint[];
}

/** Before one has chosen an endpoint: the two APIs, and how to be let in. */
export function Intro({ gateway, platform, endpoints }: IntroProps) {
  const baseUrl = baseUrlOf(gateway);
  return (
    <div className={classes.intro}>
      <Panel title="Gateway API" about={gateway.info.description}>
        <dl className={classes.facts}>
          <dt>Address</dt>
          <dd>
            <code>{baseUrl}</code>
          </dd>
          <dt>Key</dt>
          <dd>
            <code>Authorization: Bearer sk-svc-…</code>
          </dd>
          <dt>Errors</dt>
          <dd>
            <code>{`{ "error": { "message", "type", "param", "code" } }`}</code>
          </dd>
        </dl>
        <ul className={classes.list}>
          {endpoints.map(({ id, method, path, summary }) => (
            <li key={id}>
              <Link to="/reference" hash={id}>
                <Method method={method} />
                <code>{path}</code>
                <span>{summary}</span>
              </Link>
            </li>
          ))}
        </ul>
        <CodeBlock
          what="the settings of a client"
          samples={[
            { label: "environment", code: `OPENAI_BASE_URL=${baseUrl}\nOPENAI_API_KEY=sk-svc-…` },
          ]}
        />
      </Panel>
      <Panel title="Platform API">
        <p className={classes.about}>
          <Words text={platform.info.description} />
        </p>
        <p className={classes.about}>
          Every endpoint of it is in the list of endpoints, by what it is about; what the console
          can do, a token with the right scopes can do too, but for people, passwords and tokens
          themselves.
        </p>
      </Panel>
      <p className={classes.about}>
        For machines: <a href="/openapi.json">OpenAPI of the gateway</a>,{" "}
        <a href="/api/openapi.json">OpenAPI of the platform</a>. What changes is in the{" "}
        <Link to="/changelog">changelog</Link>.
      </p>
    </div>
  );
}
