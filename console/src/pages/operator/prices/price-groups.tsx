import { Fieldset } from "@mantine/core";
import type { ApiProblem } from "../../../api.ts";
import { sentenceCase } from "../../../format/sentence-case.ts";
import type { ModelKind } from "../catalog/kind-fields.tsx";
import {
  amountError,
  lackingClasses,
  PriceFields,
  type PriceTexts,
  priceClasses,
} from "./price-fields.tsx";

/** One price for each kind of model, by the kind's name. */
export type KindTexts = Readonly<Record<string, PriceTexts>>;

export interface CountedKind extends ModelKind {
  readonly name: string;
  readonly count: number;
}

export const kindName = ({ endpoint, input }: ModelKind) =>
  endpoint === "embeddings" ? `${input} embeddings` : endpoint;

/** The kinds among these models, the most frequent first. */
export function kindsOf(models: readonly ModelKind[]): readonly CountedKind[] {
  const kinds = new Map<string, CountedKind>();
  for (const { endpoint, input } of models) {
    const name = kindName({ endpoint, input });
    kinds.set(name, { endpoint, input, name, count: (kinds.get(name)?.count ?? 0) + 1 });
  }
  return [...kinds.values()].toSorted((one, other) => other.count - one.count);
}

/** Whether each kind has an amount for every class that it is billed by, and nothing else. */
export const areWhole = (kinds: readonly ModelKind[], texts: KindTexts) =>
  kinds.every((kind) => isWhole(kind, texts[kindName(kind)] ?? {}));

export const isWhole = ({ endpoint, input }: ModelKind, texts: PriceTexts) =>
  lackingClasses(priceClasses(endpoint, input), texts).length === 0 &&
  Object.values(texts).every((text) => amountError(text) === undefined);

interface PriceGroupsProps {
  readonly kinds: readonly CountedKind[];
  readonly texts: KindTexts;
  readonly onEdit: (texts: KindTexts) => void;
  /** Required fields that are empty say so. */
  readonly isChecked: boolean;
  readonly problem: ApiProblem | null;
  /** What stands before a class in the name of a problem's field. */
  readonly prefixOf?: (kind: CountedKind, at: number) => string;
}

/** The price of several models: fields for each kind, since kinds are billed by other classes. */
export function PriceGroups(props: PriceGroupsProps) {
  const { kinds, texts, onEdit, isChecked, problem, prefixOf = () => "" } = props;
  const fields = kinds.map((kind, at) => (
    <PriceFields
      key={kind.name}
      classes={priceClasses(kind.endpoint, kind.input)}
      texts={texts[kind.name] ?? {}}
      onEdit={(given) => onEdit({ ...texts, [kind.name]: given })}
      isChecked={isChecked}
      problem={problem}
      prefix={prefixOf(kind, at)}
    />
  ));
  if (kinds.length === 1) return fields[0];
  return kinds.map(({ name, count }, at) => (
    <Fieldset
      key={name}
      legend={`${sentenceCase(name)} (${count} ${count === 1 ? "model" : "models"})`}
    >
      {fields[at]}
    </Fieldset>
  ));
}
