import { SimpleGrid } from "@mantine/core";
import type { ReactNode } from "react";
import { type Endpoint, endpoints, type InputKind } from "../../../../../src/call/endpoint.ts";
import type { ApiProblem } from "../../../api.ts";
import { fieldError } from "../../../components/feedback/form-problem.tsx";
import { LockableSelect } from "./source.tsx";

export interface ModelKind {
  readonly endpoint: Endpoint;
  readonly input: InputKind;
}

interface KindFieldsProps {
  readonly kind: ModelKind;
  readonly onEdit: (change: Partial<ModelKind>) => void;
  readonly problem: ApiProblem | null;
  readonly isLocked?: (field: string) => boolean;
  /** More fields, in the same grid. */
  readonly children?: ReactNode;
}

const labels: Readonly<Record<Endpoint, string>> = {
  chat: "Chat",
  embeddings: "Embeddings",
  speech: "Speech",
  transcription: "Transcription",
};

/** What a model is for. */
export function KindFields(props: KindFieldsProps) {
  const { kind, onEdit, problem, isLocked = () => false, children } = props;
  const { endpoint, input } = kind;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
      <LockableSelect
        label="Endpoint"
        isLocked={isLocked("endpoint")}
        value={endpoint}
        onChange={(value) =>
          onEdit({ endpoint: endpoints.find((one) => one === value) ?? "chat", input: "text" })
        }
        data={endpoints.map((value) => ({ value, label: labels[value] }))}
        error={fieldError(problem, "endpoint")}
      />
      {endpoint === "embeddings" && (
        <LockableSelect
          label="Input"
          isLocked={isLocked("input")}
          value={input}
          onChange={(value) => onEdit({ input: value === "media" ? "media" : "text" })}
          data={[
            { value: "text", label: "Text" },
            { value: "media", label: "Images and video" },
          ]}
          error={fieldError(problem, "input")}
        />
      )}
      {children}
    </SimpleGrid>
  );
}
