import { NativeSelect, TextInput } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import type { Reply } from "../../../api.ts";
import classes from "./source.module.css";

type Source = Reply<"GET /api/catalog">[number]["source"];
/** A provider or a model. */
interface Sourced {
  readonly source: Source;
}

/** Whether a file states the field, so that it can only be changed there. */
export const isInFile = ({ source }: Sourced, field: string) => source.fields.includes(field);

/** For a text field: it can be read and copied, and looks as if it could not be changed. */
export const lockProps = (isLocked: boolean) =>
  isLocked ? ({ readOnly: true, variant: "filled" } as const) : {};

export function FileBadge({ source }: Sourced) {
  if (source.file === null) return null;
  return (
    <span className={classes.badge} title={`Defined in ${source.file}`}>
      {source.file}
    </span>
  );
}

interface FileNoteProps extends Sourced {
  /** Whether fields beside it can still be changed. */
  readonly isPartial?: boolean;
}

/** Nothing for what is not in a file. */
export function FileNote({ source, isPartial = false }: FileNoteProps) {
  if (source.file === null) return null;
  return (
    <p className={classes.note}>
      <IconInfoCircle size={16} />
      <span>
        Defined in {source.file}. Change it there.
        {isPartial && " You can edit the fields that the file does not set."}
      </span>
    </p>
  );
}

interface LockableSelectProps {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  readonly data: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
  readonly isLocked: boolean;
}

/** A disabled select is too pale to read. */
export function LockableSelect(props: LockableSelectProps) {
  const { value, data, onChange, isLocked, ...rest } = props;
  if (isLocked)
    return (
      <TextInput
        {...rest}
        {...lockProps(true)}
        value={data.find((one) => one.value === value)?.label ?? value}
      />
    );
  return (
    <NativeSelect
      {...rest}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[...data]}
    />
  );
}
