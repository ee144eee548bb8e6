import { Checkbox, Fieldset, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { problemWithin } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { useProviderNames } from "../model/route-dialog.tsx";
import {
  newRouteDraft,
  type RouteDraft,
  routeFieldNames,
  toRouteInput,
  withProvider,
} from "../model/route-drafts.ts";
import { TargetFields } from "../model/route-fields.tsx";
import {
  filledTexts,
  PriceFields,
  type PriceTexts,
  priceClasses,
} from "../prices/price-fields.tsx";
import { KindFields, type ModelKind } from "./kind-fields.tsx";

interface Draft extends ModelKind {
  readonly id: string;
  readonly hasRoute: boolean;
  readonly route: RouteDraft;
  readonly price: PriceTexts;
}

const emptyDraft: Draft = {
  id: "",
  endpoint: "chat",
  input: "text",
  hasRoute: true,
  route: newRouteDraft([], ""),
  price: {},
};

function toBody({ id, endpoint, input, hasRoute, route, price }: Draft) {
  const filled = filledTexts(price);
  return {
    id: id.trim(),
    endpoint,
    ...(endpoint === "embeddings" ? { input } : {}),
    ...(Object.keys(filled).length === 0 ? {} : { price: filled }),
    ...(hasRoute ? { routes: [toRouteInput(endpoint, route)] } : {}),
  };
}

const fieldNames = ({ endpoint, input, hasRoute }: Draft) => [
  "id",
  "endpoint",
  "input",
  ...(hasRoute ? routeFieldNames : []),
  ...priceClasses(endpoint, input).map(({ name }) => name),
];

export function AddModel() {
  const navigate = useNavigate();
  const providers = useProviderNames();
  const form = useForm({
    route: "POST /api/catalog",
    values: emptyDraft,
    fields: fieldNames,
    readProblem: (problem) => problemWithin(problemWithin(problem, "routes.0."), "price."),
    toInput: (draft) => ({
      body: toBody({ ...draft, route: withProvider(draft.route, providers) }),
    }),
    onDone: ({ id }) => {
      say(`Added ${id}.`);
      void navigate({ to: "/operator/catalog/$model", params: { model: id } });
    },
  });
  const { values, edit, problem } = form;
  const { endpoint, input, hasRoute, price } = values;
  const route = withProvider(values.route, providers);
  return (
    <FormDialog title="Add model" form={form} submit="Add model">
      <TextInput
        label="Model ID"
        description="The name that callers send in the model field."
        required
        maxLength={128}
        data-autofocus
        {...form.text("id")}
      />
      <KindFields
        kind={values}
        onEdit={(change) => edit({ ...change, price: {} })}
        problem={problem}
      />
      <Fieldset legend="Route">
        <Stack gap="md">
          <Checkbox
            label="Route calls to a provider now"
            checked={hasRoute}
            onChange={(event) => edit({ hasRoute: event.currentTarget.checked })}
          />
          {hasRoute && (
            <TargetFields
              draft={route}
              endpoint={endpoint}
              providers={providers}
              onEdit={(change) => edit({ route: { ...route, ...change } })}
              problem={problem}
            />
          )}
        </Stack>
      </Fieldset>
      <Fieldset legend="Price (optional)">
        <PriceFields
          classes={priceClasses(endpoint, input)}
          texts={price}
          onEdit={(texts) => edit({ price: texts })}
          problem={problem}
          isOptional
        />
      </Fieldset>
    </FormDialog>
  );
}
