import { Button } from "@mantine/core";
import { IconChartBar, IconKey, IconTerminal2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../components/code/code-block.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { useApi } from "../../queries.ts";
import { useAccounts, useMay, useSession } from "../../session.tsx";
import classes from "./page.module.css";

/** For an account that nobody has called with yet. */
export function FirstSteps({ account }: { readonly account: string }) {
  const params = { account };
  const mayMakeKeys = useMay("developer");
  const { gateway_url: baseUrl } = useSession();
  const models = useApi("GET /api/accounts/:account/models", { params });
  const model = models.data?.find(
    ({ endpoint, status }) => endpoint === "chat" && status === "active",
  )?.id;
  return (
    <Panel title="Make the first call" about="It appears here as soon as it has ended.">
      <ol className={classes.steps}>
        <li>
          <h3>Make a key</h3>
          <p>
            {mayMakeKeys
              ? "It is shown once, with samples for your language."
              : "A developer or an owner of this account can make one for you."}
          </p>
          {mayMakeKeys && (
            <Button
              leftSection={<IconKey size={16} />}
              renderRoot={(props) => (
                <Link to="/a/$account/keys" params={params} search={{ new: "1" }} {...props} />
              )}
            >
              Make a key
            </Button>
          )}
        </li>
        <li>
          <h3>Call a model with it</h3>
          <p>Put the key where it says $SVC_API_KEY, or set that variable first.</p>
          <CodeBlock
            what="the first call"
            samples={[{ label: "curl", code: curlFor(baseUrl, model ?? "MODEL") }]}
          />
        </li>
        <li>
          <h3>Or try it here</h3>
          <p>The playground calls the same gateway, and this account pays for it.</p>
          <Button
            variant="default"
            leftSection={<IconTerminal2 size={16} />}
            renderRoot={(props) => <Link to="/a/$account/playground" params={params} {...props} />}
          >
            Open the playground
          </Button>
        </li>
      </ol>
    </Panel>
  );
}

const curlFor = (baseUrl: string, model: string) => `curl ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "messages": [{ "role": "user", "content": "What is the capital of France?" }]
  }'`;

/** For the operator of a platform that nobody has called yet. */
export function NoCallsYet() {
  const [first] = useAccounts();
  return (
    <EmptyState
      icon={IconChartBar}
      title="No calls yet"
      about={
        first === undefined
          ? "Create an account and make a key for it. Its calls appear here as soon as they have ended."
          : `The models that are served can be tried at once, paid by the account “${first.name}”. Calls appear here as soon as they have ended.`
      }
      action={
        <>
          {first !== undefined && (
            <Button
              renderRoot={(props) => (
                <Link to="/a/$account/playground" params={{ account: first.id }} {...props} />
              )}
            >
              Open the playground
            </Button>
          )}
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/operator/providers" {...props} />}
          >
            Connect a provider
          </Button>
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/operator/accounts" {...props} />}
          >
            Accounts
          </Button>
        </>
      }
    />
  );
}
