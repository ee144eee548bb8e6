import { IconChevronRight } from "@tabler/icons-react";
import { useState } from "react";
import { type OpenApi, resolve, type Schema } from "../document.ts";
import classes from "./fields.module.css";
import { type Field, fieldsOf, typeWords } from "./schema.ts";
import { Words } from "./words.tsx";

interface FieldListProps {
  readonly document: OpenApi;
  readonly schema: Schema;
  /** For screen readers: `Fields of the body`. */
  readonly label: string;
  /** Fields of a reply are there, unless they are marked. */
  readonly isReply?: boolean;
}

export function FieldList({ document, schema, label, isReply = false }: FieldListProps) {
  const fields = fieldsOf(document, schema);
  return fields.length === 0 ? (
    <p className="soft">
      <Words text={resolve<Schema>(document, schema).description ?? typeWords(document, schema)} />
    </p>
  ) : (
    <Fields fields={fields} label={label} isReply={isReply} />
  );
}

interface FieldsProps {
  readonly fields: readonly Field[];
  readonly label: string;
  readonly isReply?: boolean;
}

export function Fields({ fields, label, isReply = false }: FieldsProps) {
  return (
    <ul className={classes.fields} aria-label={label}>
      {fields.map((field, at) => (
        <li key={at} className={classes.field}>
          <div className={classes.head}>
            <code className={classes.name} data-form={field.isForm}>
              {field.name}
            </code>
            {field.type !== field.name && <span className={classes.type}>{field.type}</span>}
            {field.isRequired && !isReply && <span className={classes.required}>required</span>}
            {isReply && !field.isRequired && !field.isForm && (
              <span className={classes.limits}>optional</span>
            )}
            {field.isPreview && <span className={classes.preview}>preview</span>}
            {field.isDeprecated && <span className={classes.deprecated}>deprecated</span>}
            {field.limits !== "" && <span className={classes.limits}>{field.limits}</span>}
          </div>
          {field.about !== "" && (
            <p className={classes.about}>
              <Words text={field.about} />
            </p>
          )}
          {field.values.length > 0 && (
            <p className={classes.values}>
              <span>One of</span>
              {field.values.map((value) => (
                <code key={value}>{value}</code>
              ))}
            </p>
          )}
          {field.hasInner && <Inner field={field} isReply={isReply} />}
        </li>
      ))}
    </ul>
  );
}

/** Rendered when it is opened. */
function Inner({ field, isReply }: { readonly field: Field; readonly isReply: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={classes.inner}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <IconChevronRight size={14} />
        Fields of {field.name}
      </summary>
      {isOpen && (
        <Fields fields={field.inner()} label={`Fields of ${field.name}`} isReply={isReply} />
      )}
    </details>
  );
}
