import { Group, NativeSelect, SimpleGrid, TextInput } from "@mantine/core";
import type { ApiProblem } from "../../../api.ts";
import { fieldError } from "../../../components/feedback/form-problem.tsx";
import { type LimitTexts, periods } from "./limits.ts";

interface LimitFieldsProps {
  readonly value: LimitTexts;
  readonly onChange: (part: Partial<LimitTexts>) => void;
  readonly problem: ApiProblem | null;
}

export const limitFieldNames = ["rpm", "tpm", "concurrency", "budget"];

/** Limits of an account or a key; an empty field means no limit. */
export function LimitFields({ value, onChange, problem }: LimitFieldsProps) {
  const whole = (name: "rpm" | "tpm" | "concurrency", label: string) => (
    <TextInput
      label={label}
      inputMode="numeric"
      placeholder="No limit"
      value={value[name]}
      onChange={(event) => onChange({ [name]: event.currentTarget.value })}
      error={fieldError(problem, name)}
    />
  );
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      {whole("rpm", "Requests per minute")}
      {whole("tpm", "Tokens per minute")}
      {whole("concurrency", "Concurrent requests")}
      <Group gap={8} align="flex-start" wrap="nowrap">
        <TextInput
          flex="1 1 0"
          miw={0}
          label="Budget in USD"
          inputMode="decimal"
          placeholder="No limit"
          value={value.budget}
          onChange={(event) => onChange({ budget: event.currentTarget.value })}
          error={fieldError(problem, "budget")}
        />
        <NativeSelect
          label="Resets"
          w={118}
          flex="none"
          data={periods}
          value={value.period}
          onChange={(event) => onChange({ period: event.currentTarget.value })}
        />
      </Group>
    </SimpleGrid>
  );
}
