import type { OpenApi, Parameter, Schema } from "../document.ts";
import { Fields } from "./field-list.tsx";
import { fieldsOf } from "./schema.ts";

const places = [
  { place: "path", title: "In the path" },
  { place: "query", title: "In the query" },
  { place: "header", title: "Headers" },
] as const;

interface ParametersProps {
  readonly document: OpenApi;
  readonly parameters: readonly Parameter[];
}

export function Parameters({ document, parameters }: ParametersProps) {
  return places.map(({ place, title }) => {
    const here = parameters.filter((one) => one.in === place);
    if (here.length === 0) return null;
    return (
      <section key={place}>
        <h3>{title}</h3>
        <Fields fields={fieldsOf(document, toObject(here))} label={title} />
      </section>
    );
  });
}

/** As if they were the fields of one object. */
function toObject(parameters: readonly Parameter[]): Schema {
  const properties = parameters.map(({ name, schema, description }) => [
    name,
    description === undefined ? schema : { ...schema, description },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties) as Readonly<Record<string, Schema>>,
    required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
  };
}
