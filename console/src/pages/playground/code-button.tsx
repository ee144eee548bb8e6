import { Button, Modal } from "@mantine/core";
import { IconCode } from "@tabler/icons-react";
import { useState } from "react";
import { CodeBlock } from "../../components/code/code-block.tsx";
import { callSamples, withoutFiles } from "../../components/code/samples.ts";

interface CodeOptions {
  /** Below the base URL. */
  readonly path: string;
  readonly baseUrl: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The very call that the page would make now, to take away. */
export function CodeButton(props: { readonly options: () => CodeOptions }) {
  const [options, setOptions] = useState<CodeOptions>();
  return (
    <>
      <Button
        variant="default"
        fullWidth
        leftSection={<IconCode size={16} />}
        onClick={() => setOptions(props.options())}
      >
        Code
      </Button>
      <Modal
        opened={options !== undefined}
        onClose={() => setOptions(undefined)}
        title="Code for this call"
        size="xl"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <p className="soft small below">
          Uses the current settings. Set SVC_API_KEY to your own key, because the playground's key
          expires after 15 minutes.
        </p>
        {options !== undefined && <CodeBlock what="the call" samples={toSamples(options)} />}
      </Modal>
    </>
  );
}

const toSamples = ({ path, baseUrl, body }: CodeOptions) =>
  callSamples({ baseUrl, path, body: withoutFiles(body) });
