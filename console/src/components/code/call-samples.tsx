import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import classes from "./code-block.module.css";
import { CodeBlock } from "./code-block.tsx";
import { type DialectId, dialectOf, dialects } from "./dialects.ts";
import { type CalledModel, firstCallSamples } from "./samples.ts";

interface CallSamplesProps {
  /** What the code is, for screen readers and the copy button: `the first call`. */
  readonly what: string;
  readonly baseUrl: string;
  readonly model: CalledModel;
  /** The secret, while it is shown. */
  readonly secret?: string;
}

/** A call that works as it stands; of chat models in each format that they can be called in. */
export function CallSamples({ what, baseUrl, model, secret }: CallSamplesProps) {
  const [dialect, setDialect] = useState<DialectId>("chat");
  const samples = firstCallSamples({
    baseUrl,
    model,
    dialect,
    ...(secret === undefined ? {} : { key: secret }),
  });
  if (model.endpoint !== "chat") return <CodeBlock what={what} samples={samples} />;
  return (
    <div className={classes.formats}>
      <SegmentedControl
        size="xs"
        aria-label="API format"
        data={dialects.map(({ id, label }) => ({ value: id, label }))}
        value={dialect}
        onChange={(id) => setDialect(dialectOf(id).id)}
      />
      <CodeBlock what={what} samples={samples} />
    </div>
  );
}
