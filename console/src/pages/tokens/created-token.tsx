import { Button, Group, Stack } from "@mantine/core";
import { CodeBlock } from "../../components/code/code-block.tsx";
import { ShownOnce } from "../../components/code/shown-once.tsx";
import { DialogBody, useDialog } from "../../components/form/dialog.tsx";
import { useAccountId } from "../../session.tsx";
import { endpointsOf, usePlatformDocument } from "../reference/document.ts";
import type { NewToken } from "./tokens.ts";

export function CreatedToken({ token }: { readonly token: NewToken }) {
  const dialog = useDialog();
  const path = useExamplePath(token.scopes);
  return (
    <DialogBody title="Token created">
      <Stack>
        <ShownOnce secret={token.token} what="the token">
          Copy this token now. You will not see it again. Anyone with the token has the access you
          selected.
        </ShownOnce>
        {path !== undefined && (
          <CodeBlock
            what="a first request"
            samples={[
              {
                label: "curl",
                code: `curl "${location.origin}${path}" \\\n  -H "Authorization: Bearer ${token.token}"`,
              },
            ]}
          />
        )}
        <Group justify="flex-end">
          <Button onClick={dialog?.close}>Done</Button>
        </Group>
      </Stack>
    </DialogBody>
  );
}

/** A route that the token can read, taken from the API description. */
function useExamplePath(scopes: readonly string[]): string | undefined {
  const account = useAccountId() ?? "";
  const document = usePlatformDocument();
  if (scopes.includes("metrics:read")) return "/metrics";
  const areas = scopes.map((scope) => scope.split(":")[0]);
  const found = endpointsOf(document.data, "platform").find(
    ({ method, path, scope, isStream }) =>
      method === "GET" &&
      !isStream &&
      areas.includes(scope?.split(":")[0]) &&
      !/\{(?!account\})/.test(path) &&
      path.includes("{account}") === (account !== ""),
  );
  return found?.path.replace("{account}", account);
}
