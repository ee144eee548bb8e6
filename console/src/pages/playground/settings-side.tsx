import { IconAdjustmentsHorizontal } from "@tabler/icons-react";
import { type ReactNode, useId, useState } from "react";
import { ModelPicker } from "./model-picker.tsx";
import type { ModeProps } from "./models.ts";
import classes from "./playground.module.css";

interface SettingsSideProps extends Pick<ModeProps, "models" | "model" | "onModel"> {
  /** For screen readers: `Settings of the chat`. */
  readonly label: string;
  readonly children: ReactNode;
}

/** The model and what can be set; on a phone only the model, until one asks for the rest. */
export function SettingsSide({ label, models, model, onModel, children }: SettingsSideProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <aside className={classes.side} aria-label={label}>
      <ModelPicker models={models} model={model} onChange={onModel} />
      <button
        type="button"
        className={classes.toggle}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <IconAdjustmentsHorizontal size={16} />
        {isOpen ? "Hide settings" : "Settings and code"}
      </button>
      <div id={id} className={classes.more} data-open={isOpen}>
        {children}
      </div>
    </aside>
  );
}
