import { Checkbox, PasswordInput, TextInput, type TextInputProps } from "@mantine/core";
import type { ProviderOption } from "../../../../../src/catalog/provider-kinds.ts";
import type { ApiProblem } from "../../../api.ts";
import { fieldError } from "../../../components/feedback/form-problem.tsx";
import { LockableSelect, lockProps } from "../catalog/source.tsx";
import { optionsOf, optionTexts } from "./words.ts";

/** What is typed into the form. A secret that is empty stays; null removes it. */
export interface ProviderDraft {
  readonly baseUrl: string;
  readonly key: string | null;
  readonly isPrivate: boolean;
  readonly options: Readonly<Record<string, string | null>>;
}

export const emptyDraft: ProviderDraft = {
  baseUrl: "",
  key: "",
  isPrivate: false,
  options: {},
};

export const providerFieldNames = (kind: string) => [
  "base_url",
  "api_key",
  "allow_private",
  ...optionsOf(kind).map(([name]) => name),
];

interface ProviderFieldsProps {
  readonly kind: string;
  readonly draft: ProviderDraft;
  readonly onEdit: (change: Partial<ProviderDraft>) => void;
  readonly problem: ApiProblem | null;
  readonly address: Pick<TextInputProps, "description" | "placeholder" | "required">;
  readonly keyAbout: string;
  /** The secrets that are set, by field. */
  readonly stored?: readonly string[];
  readonly isLocked?: (field: string) => boolean;
  /** It runs on this machine: there is nothing to choose. */
  readonly isAlwaysPrivate?: boolean;
}

const privateLabel = "Allow a private address";
/** Messages name the fields of the API; people see a checkbox. */
const withLabels = (message: string | undefined) =>
  message?.replace("Set allow_private ", `Select “${privateLabel}” `);

/** Address, key and options of a provider, whether it is new or not. */
export function ProviderFields(props: ProviderFieldsProps) {
  const { kind, draft, onEdit, problem, address, keyAbout, stored = [] } = props;
  const { isLocked = () => false, isAlwaysPrivate = false } = props;
  const setOption = (name: string, value: string | null) =>
    onEdit({ options: { ...draft.options, [name]: value } });
  return (
    <>
      <TextInput
        label="Address"
        type="url"
        {...address}
        {...lockProps(isLocked("base_url"))}
        value={draft.baseUrl}
        onChange={(event) => onEdit({ baseUrl: event.currentTarget.value })}
        error={withLabels(fieldError(problem, "base_url"))}
      />
      <SecretInput
        label="API key"
        about={keyAbout}
        value={draft.key}
        isStored={stored.includes("api_key")}
        isLocked={isLocked("api_key")}
        onChange={(key) => onEdit({ key })}
        error={fieldError(problem, "api_key")}
      />
      {optionsOf(kind).map(([name, option]) => (
        <OptionInput
          key={name}
          name={name}
          option={option}
          value={draft.options[name]}
          isStored={stored.includes(name)}
          isLocked={isLocked(name)}
          onChange={(value) => setOption(name, value)}
          error={fieldError(problem, name) ?? fieldError(problem, `options.${name}`)}
        />
      ))}
      <Checkbox
        label={privateLabel}
        description="For your own servers: localhost, 10.x, 192.168.x."
        checked={draft.isPrivate || isAlwaysPrivate}
        disabled={isAlwaysPrivate || isLocked("allow_private")}
        onChange={(event) => onEdit({ isPrivate: event.currentTarget.checked })}
        error={fieldError(problem, "allow_private")}
      />
    </>
  );
}

interface ValueProps {
  readonly isStored: boolean;
  readonly isLocked: boolean;
  readonly onChange: (value: string | null) => void;
  readonly error: string | undefined;
}

interface SecretInputProps extends ValueProps {
  readonly label: string;
  readonly about: string;
  readonly value: string | null;
}

/** Never shows what is stored; what is typed replaces it. */
function SecretInput(props: SecretInputProps) {
  const { label, about, value, isStored, isLocked, onChange, error } = props;
  return (
    <div>
      <PasswordInput
        label={label}
        description={about}
        autoComplete="off"
        placeholder={
          value === null ? "Will be removed" : !isStored ? "" : isLocked ? "••••••••" : "Unchanged"
        }
        disabled={value === null}
        {...lockProps(isLocked)}
        value={value ?? ""}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
      />
      {isStored && !isLocked && (
        <Checkbox
          mt={8}
          size="xs"
          label={`Remove ${label}`}
          checked={value === null}
          onChange={(event) => onChange(event.currentTarget.checked ? null : "")}
        />
      )}
    </div>
  );
}

interface OptionInputProps extends ValueProps {
  readonly name: string;
  readonly option: ProviderOption;
  readonly value: string | null | undefined;
}

function OptionInput({ name, option, value = "", isLocked, ...rest }: OptionInputProps) {
  const { label, about } = optionTexts[name] ?? { label: name, about: option.about };
  const { onChange, error } = rest;
  if (option.isSecret === true)
    return <SecretInput {...rest} label={label} about={about} value={value} isLocked={isLocked} />;
  if (option.words !== undefined)
    return (
      <LockableSelect
        label={label}
        description={about}
        isLocked={isLocked}
        value={value ?? ""}
        onChange={onChange}
        error={error}
        data={[
          { value: "", label: "Default" },
          { value: "true", label: "Allowed" },
          { value: "false", label: "Not allowed" },
        ]}
      />
    );
  return (
    <TextInput
      label={label}
      description={about}
      autoComplete="off"
      {...lockProps(isLocked)}
      value={value ?? ""}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
    />
  );
}
