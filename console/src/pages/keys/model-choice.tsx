import { Checkbox, Input, SegmentedControl } from "@mantine/core";
import type { KeyDraft, Model } from "./key-draft.ts";
import classes from "./page.module.css";

interface ModelChoiceProps {
  readonly draft: KeyDraft;
  readonly onEdit: (part: Partial<KeyDraft>) => void;
  readonly models: readonly Model[];
  readonly error: string | undefined;
}

/** All models, also those to come, or some of them by name. */
export function ModelChoice({ draft, onEdit, models, error }: ModelChoiceProps) {
  const callable = models.filter(({ status }) => status !== "retired");
  // What it was given before stays to be seen, though it cannot be called now.
  const others = draft.models.filter((id) => callable.every((model) => model.id !== id));
  const choices = [
    ...callable.map(({ id, endpoint, status }) => ({
      id,
      note: status === "deprecated" ? `${endpoint}, deprecated` : endpoint,
    })),
    ...others.map((id) => ({ id, note: "not served" })),
  ];
  const toggle = (id: string, isOn: boolean) =>
    onEdit({ models: isOn ? [...draft.models, id] : draft.models.filter((one) => one !== id) });
  return (
    <fieldset className={classes.choice}>
      <legend>Models</legend>
      <SegmentedControl
        fullWidth
        aria-label="Models"
        data={[
          { value: "all", label: "All models" },
          { value: "some", label: "Selected models" },
        ]}
        value={draft.mayCallAll ? "all" : "some"}
        onChange={(value) => onEdit({ mayCallAll: value === "all" })}
      />
      {draft.mayCallAll ? (
        <p className="soft small">Includes models added later.</p>
      ) : (
        <div className={classes.models}>
          {choices.map(({ id, note }) => (
            <Checkbox
              key={id}
              label={
                <span className="lines">
                  <span>
                    <code className="small">{id}</code>
                  </span>
                  <small>{note}</small>
                </span>
              }
              checked={draft.models.includes(id)}
              onChange={(event) => toggle(id, event.currentTarget.checked)}
            />
          ))}
          {choices.length === 0 && <p className="soft small">No models yet.</p>}
        </div>
      )}
      {error !== undefined && (
        <Input.Error role="alert" mt={6}>
          {error}
        </Input.Error>
      )}
    </fieldset>
  );
}
