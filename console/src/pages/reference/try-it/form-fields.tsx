import { FileInput, NativeSelect, TextInput } from "@mantine/core";
import type { FormInput, FormValues } from "./form-body.ts";
import classes from "./try-it.module.css";

interface FormFieldsProps {
  readonly inputs: readonly FormInput[];
  readonly values: FormValues;
  readonly onChange: (values: FormValues) => void;
  readonly models: readonly string[];
}

/** The parts of a multipart body, each with a field of its own. */
export function FormFields({ inputs, values, onChange, models }: FormFieldsProps) {
  return (
    <div className={classes.parameters}>
      {inputs.map((input) => (
        <FormPart
          key={input.name}
          input={input.name === "model" ? { ...input, values: models } : input}
          value={values[input.name]}
          onChange={(value) => onChange({ ...values, [input.name]: value })}
        />
      ))}
    </div>
  );
}

interface FormPartProps {
  readonly input: FormInput;
  readonly value: string | File | undefined;
  readonly onChange: (value: string | File) => void;
}

function FormPart({ input, value, onChange }: FormPartProps) {
  const { name, isFile, isRequired, values } = input;
  const shared = { label: name, required: isRequired };
  if (isFile)
    return (
      <FileInput
        {...shared}
        placeholder="Choose a file"
        clearable
        value={value instanceof File ? value : null}
        onChange={(file) => onChange(file ?? "")}
      />
    );
  const text = typeof value === "string" ? value : "";
  if (values.length === 0)
    return (
      <TextInput
        {...shared}
        placeholder={isRequired ? undefined : "Not sent"}
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  return (
    <NativeSelect
      {...shared}
      data={values.includes(text) ? [...values] : [text, ...values]}
      value={text}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
