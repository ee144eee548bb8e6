import { Tabs } from "@mantine/core";
import classes from "./code-block.module.css";
import { coloredParts } from "./colored-code.ts";
import { CopyButton } from "./copy-button.tsx";

export interface Sample {
  /** The tab's name: `curl`, `Python`. */
  readonly label: string;
  readonly code: string;
}

interface CodeBlockProps {
  /** What the code is, for screen readers and the copy button: `the request`. */
  readonly what: string;
  readonly samples: readonly Sample[];
}

/** Code to take away; several samples of the same thing are tabs. */
export function CodeBlock({ what, samples }: CodeBlockProps) {
  const [first] = samples;
  if (first === undefined) return null;
  if (samples.length === 1) return <Code what={what} sample={first} />;
  return (
    <Tabs defaultValue={first.label} className={classes.tabs} keepMounted={false}>
      <Tabs.List>
        {samples.map(({ label }) => (
          <Tabs.Tab key={label} value={label}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map((sample) => (
        <Tabs.Panel key={sample.label} value={sample.label}>
          <Code what={what} sample={sample} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function Code({ what, sample }: { readonly what: string; readonly sample: Sample }) {
  return (
    <div className={classes.block}>
      <pre className={classes.code} tabIndex={0} aria-label={`Code: ${what}, ${sample.label}`}>
        <code>
          {coloredParts(sample.code).map(({ text, kind }, at) =>
            kind === undefined ? (
              text
            ) : (
              <span key={at} data-kind={kind}>
                {text}
              </span>
            ),
          )}
        </code>
      </pre>
      <div className={classes.copy}>
        <CopyButton text={sample.code} what={what} />
      </div>
    </div>
  );
}
