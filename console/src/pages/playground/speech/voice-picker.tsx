import classes from "./speech.module.css";

export const voices = ["Kore", "Puck", "Charon", "Fenrir", "Aoede"] as const;

interface VoicePickerProps {
  readonly value: string;
  readonly onChange: (voice: string) => void;
}

/** Radio buttons, so that the arrow keys choose. */
export function VoicePicker({ value, onChange }: VoicePickerProps) {
  return (
    <fieldset className={classes.voices}>
      <legend className={classes.label}>Voice</legend>
      {voices.map((name) => (
        <label key={name} className={classes.voice}>
          <input
            type="radio"
            name="voice"
            value={name}
            checked={value === name}
            onChange={() => onChange(name)}
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
