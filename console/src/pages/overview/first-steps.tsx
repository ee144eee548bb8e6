import { Button } from "@mantine/core";
import { IconChartBar, IconKey, IconTerminal2 } from "@tabler/icons-react";
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
  const active = (keys.data ?? []).filter(({ status }) => status === "active").length;
  const model = models.data?.find(
    ({ endpoint, status }) => endpoint === "chat" && status === "active",
  )?.id;
  return (
    <Panel title="Make your first call" about="It appears here as soon as it finishes.">
      <ol className={classes.steps}>
        <li>
          <h3>{active === 0 ? "Create a key" : "Use a key"}</h3>
          <p>{keyWords(active, mayMakeKeys)}</p>
          {mayMakeKeys && (
            <Button
              // The link keeps the look that it was first drawn with.
              key={active === 0 ? "first" : "another"}
              variant={active === 0 ? "filled" : "default"}
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

/** For the operator of a platform without calls; the setup checklist is above. */
export function NoCallsYet() {
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
