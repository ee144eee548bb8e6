import { Button } from "@mantine/core";
import { IconChartBar, IconKey, IconTerminal2 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { CodeBlock } from "../../components/code/code-block.tsx";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { Panel } from "../../components/layout/panel.tsx";
import { useApi } from "../../queries.ts";
import { useAccounts, useMay, useSession } from "../../session.tsx";
import classes from "./page.module.css";

/** For an account without calls. */
export function FirstSteps({ account }: { readonly account: string }) {
  const params = { account };
  const mayMakeKeys = useMay("developer");
  const { gateway_url: baseUrl } = useSession();
  const models = useApi("GET /api/accounts/:account/models", { params });
  const model = models.data?.find(
    ({ endpoint, status }) => endpoint === "chat" && status === "active",
  )?.id;
  return (
    <Panel title="Make your first call" about="It appears here as soon as it finishes.">
      <ol className={classes.steps}>
        <li>
          <h3>Create a key</h3>
          <p>
            {mayMakeKeys
              ? "It is shown once, with code samples."
              : "A developer or an owner of this account can create one for you."}
          </p>
          {mayMakeKeys && (
            <Button
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

const curlFor = (baseUrl: string, model: string) => `curl ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "messages": [{ "role": "user", "content": "What is the capital of France?" }]
  }'`;

/** For the operator of a platform without calls. */
export function NoCallsYet() {
  const [first] = useAccounts();
  return (
    <EmptyState
      icon={IconChartBar}
      title="No calls yet"
      about={
        first === undefined
          ? "Create an account and a key for it. Calls appear here as soon as they finish."
          : `Try a model in the playground. Calls are charged to the account “${first.name}” and appear here as soon as they finish.`
      }
      action={
        <>
          {first !== undefined && (
            <Button
              renderRoot={(props) => (
                <Link to="/a/$account/playground" params={{ account: first.id }} {...props} />
              )}
            >
              {" "}
              Open playground{" "}
            </Button>
          )}
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/operator/providers" {...props} />}
          >
            Add provider
          </Button>
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/operator/accounts" {...props} />}
          >
            {" "}
            View accounts{" "}
          </Button>
        </>
      }
    />
  );
}
