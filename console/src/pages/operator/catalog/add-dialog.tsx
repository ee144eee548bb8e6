import { Button, Checkbox, Fieldset, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ApiProblem } from "../../../api.ts";
import {
  FormProblem,
  fieldError,
  problemWithin,
} from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { useChange } from "../../../queries.ts";
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

interface AddDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function AddDialog({ isOpen, onClose }: AddDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Add model" size="lg">
      <AddForm onClose={onClose} />
    </Modal>
  );
}

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

/** Inside the dialog, so that it starts empty each time. */
function AddForm({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const providers = useProviderNames();
  const [given, setDraft] = useState(emptyDraft);
  const add = useChange("POST /api/catalog", {
    onDone: (entry) => {
      say(`Added ${entry.id}.`);
      void navigate({ to: "/operator/catalog/$model", params: { model: entry.id } });
    },
  });
  const draft = { ...given, route: withProvider(given.route, providers) };
  const edit = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const problem = problemWithin(problemWithin(add.error, "routes.0."), "price.");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ body: toBody(draft) });
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Model ID"
          description="The name that callers send as model."
          required
          maxLength={128}
          data-autofocus
          value={draft.id}
          onChange={(event) => edit({ id: event.currentTarget.value })}
          error={fieldError(problem, "id")}
        />
        <KindFields
          kind={draft}
          onEdit={(change) => edit({ ...change, price: {} })}
          problem={problem}
        />
        <Sections draft={draft} edit={edit} providers={providers} problem={problem} />
        <FormProblem problem={problem} fields={fieldNames(draft)} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add model
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface SectionsProps {
  readonly draft: Draft;
  readonly edit: (change: Partial<Draft>) => void;
  readonly providers: readonly string[];
  readonly problem: ApiProblem | null;
}

/** What it needs to be served, and can also get later. */
function Sections({ draft, edit, providers, problem }: SectionsProps) {
  const { endpoint, input, hasRoute, route, price } = draft;
  return (
    <>
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
    </>
  );
}
