import { Checkbox, NumberInput, SimpleGrid, TextInput } from "@mantine/core";
import type { Endpoint } from "../../../../../src/call/endpoint.ts";
import { voices } from "../../../../../src/call/speak.ts";
import type { ApiProblem } from "../../../api.ts";
import { fieldError } from "../../../components/feedback/form-problem.tsx";
import { LockableSelect, lockProps } from "../catalog/source.tsx";
import classes from "./page.module.css";
import type { RouteDraft } from "./route-drafts.ts";

interface RouteFieldsProps {
  readonly draft: RouteDraft;
  readonly endpoint: Endpoint;
  readonly providers: readonly string[];
  readonly onEdit: (change: Partial<RouteDraft>) => void;
  /** Its fields are named as in this form. */
  readonly problem: ApiProblem | null;
  /** A file states them. */
  readonly isLocked?: boolean;
}

/** Where a model's calls go: the provider, and what the model is called there. */
export function TargetFields(props: RouteFieldsProps) {
  const { draft, endpoint, providers, onEdit, problem, isLocked = false } = props;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <LockableSelect
          label="Provider"
          isLocked={isLocked}
          value={draft.provider}
          onChange={(provider) => onEdit({ provider })}
          data={[...new Set([draft.provider, ...providers])].map((name) => ({
            value: name,
            label: name,
          }))}
          error={fieldError(problem, "provider")}
        />
        <TextInput
          label="Upstream model"
          required={!isLocked}
          maxLength={200}
          {...lockProps(isLocked)}
          value={draft.model}
          onChange={(event) => onEdit({ model: event.currentTarget.value })}
          error={fieldError(problem, "model")}
        />
      </SimpleGrid>
      {endpoint === "speech" && <VoiceFields {...props} isLocked={isLocked} />}
    </>
  );
}

/** How a target is used beside the others. */
export function UseFields(props: RouteFieldsProps) {
  const { draft, endpoint, onEdit, problem, isLocked = false } = props;
  const number = (value: string | number, least: number) =>
    typeof value === "number" && Number.isInteger(value) ? value : least;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <NumberInput
          label="Priority"
          description="The lowest number is tried first."
          min={1}
          max={100}
          allowDecimal={false}
          {...lockProps(isLocked)}
          value={draft.priority}
          onChange={(value) => onEdit({ priority: number(value, 1) })}
          error={fieldError(problem, "priority")}
        />
        <NumberInput
          label="Weight"
          description="The share of calls among routes with the same priority."
          min={0}
          max={1_000_000}
          allowDecimal={false}
          {...lockProps(isLocked)}
          value={draft.weight}
          onChange={(value) => onEdit({ weight: number(value, 0) })}
          error={fieldError(problem, "weight")}
        />
      </SimpleGrid>
      {endpoint === "embeddings" && (
        <LockableSelect
          label="Dimensions"
          description="The value to request if the caller does not set dimensions."
          isLocked={isLocked}
          value={draft.dimensions}
          onChange={(value) =>
            onEdit({ dimensions: value === "own" || value === "3072" ? value : "" })
          }
          data={[
            { value: "", label: "Automatic" },
            { value: "own", label: "The upstream model's default" },
            { value: "3072", label: "3,072" },
          ]}
          error={fieldError(problem, "dimensions")}
        />
      )}
    </>
  );
}

function VoiceFields({ draft, onEdit, problem, isLocked = false }: RouteFieldsProps) {
  return (
    <div>
      <Checkbox
        label="The upstream uses the same voice names"
        checked={draft.hasSameVoices}
        disabled={isLocked}
        onChange={(event) => onEdit({ hasSameVoices: event.currentTarget.checked })}
        error={fieldError(problem, "voices")}
      />
      {!draft.hasSameVoices && (
        <div className={classes.voices}>
          {voices.map((voice) => (
            <TextInput
              key={voice}
              label={voice}
              placeholder="Upstream voice"
              required
              {...lockProps(isLocked)}
              value={draft.voices[voice]}
              onChange={(event) =>
                onEdit({ voices: { ...draft.voices, [voice]: event.currentTarget.value } })
              }
              error={fieldError(problem, `voices.${voice}`)}
            />
          ))}
        </div>
      )}
    </div>
  );
}
