import { Button } from "@mantine/core";
import { IconBox, IconChartBar, IconKey, IconTerminal2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../components/code/code-block.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { useApi } from "../../queries.ts";
import { useMay, useSession } from "../../session.tsx";
import classes from "./page.module.css";

/** For an account without calls. */
export function FirstSteps({ account }: { readonly account: string }) {
  const params = { account };
  const mayMakeKeys = useMay("developer");
  const { gateway_url: baseUrl } = useSession();
  const models = useApi("GET /api/accounts/:account/models", { params });
  const keys = useApi("GET /api/accounts/:account/keys", { params });
  const working = (keys.data ?? []).filter(({ status }) => status === "active").length;
  const active = (models.data ?? []).filter(({ status }) => status === "active");
  const model = active.find(({ endpoint }) => endpoint === "chat")?.id;
  // Such as on a new platform without the embedded models.
  if (models.isSuccess && active.length === 0) return <NoModelsYet />;
  return (
    <Panel title="Make your first call" about="It appears here as soon as it finishes.">
      <ol className={classes.steps}>
        <li>
          <h3>{working === 0 ? "Create a key" : "Use a key"}</h3>
          <p>{keyWords(working, mayMakeKeys)}</p>
          {mayMakeKeys && (
            <Button
              // The link keeps the look that it was first drawn with.
              key={working === 0 ? "first" : "another"}
              variant={working === 0 ? "filled" : "default"}
              leftSection={<IconKey size={16} />}
              renderRoot={(props) => (
                <Link to="/a/$account/keys" params={params} search={{ new: "1" }} {...props} />
              )}
            >
              {" "}
              Create key{" "}
            </Button>
          )}
        </li>
        <li>
          <h3>Call a model</h3>
          <p>Set SVC_API_KEY to your key, then run this command.</p>
          <CodeBlock
            what="the first call"
            samples={[{ label: "curl", code: curlFor(baseUrl, model ?? "MODEL") }]}
          />
        </li>
        <li>
          <h3>Or try it here</h3>
          <p>Playground calls are charged to this account.</p>
          <Button
            variant="default"
            leftSection={<IconTerminal2 size={16} />}
            renderRoot={(props) => <Link to="/a/$account/playground" params={params} {...props} />}
          >
            {" "}
            Open playground{" "}
          </Button>
        </li>
      </ol>
    </Panel>
  );
}

function keyWords(active: number, mayMakeKeys: boolean): string {
  if (active > 0)
    return `This account has ${active === 1 ? "an active key" : `${active} active keys`}. A key's secret is shown only when it is created.`;
  return mayMakeKeys
    ? "It is shown once, with code samples."
    : "A developer or an owner of this account can create one for you.";
}

const curlFor = (baseUrl: string, model: string) => `curl ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "messages": [{ "role": "user", "content": "What is the capital of France?" }]
  }'`;

/** Nothing can be called: neither a vendor's model nor an embedded one. */
function NoModelsYet() {
  const isOperator = useMay("operator");
  return (
    <EmptyState
      icon={IconBox}
      title="No models available yet"
      about={
        isOperator
          ? "Connect a provider and set the prices of its models. Then make the first call."
          : "The operator of this platform has to connect a provider and set the prices of its models."
      }
      action={
        isOperator && (
          <Button
            renderRoot={(props) => (
              <Link to="/operator/providers" search={{ new: "1" }} {...props} />
            )}
          >
            Add provider
          </Button>
        )
      }
    />
  );
}

/** For the operator of a platform without calls; the setup checklist is above. */
export function NoCallsYet() {
  const setup = useApi("GET /api/setup");
  if (setup.data?.served_models === 0) return <NoModelsYet />;
  return (
    <EmptyState
      icon={IconChartBar}
      title="No calls yet"
      about="Calls appear here as soon as they finish. Try a model in the playground, on behalf of an account you choose."
      action={
        <Button
          leftSection={<IconTerminal2 size={16} />}
          renderRoot={(props) => <Link to="/operator/playground" {...props} />}
        >
          Open playground
        </Button>
      }
    />
  );
}
