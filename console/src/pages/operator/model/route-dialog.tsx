import { Fieldset } from "@mantine/core";
import type { Reply } from "../../../api.ts";
import { problemWithin } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { useApi } from "../../../queries.ts";
import { FileNote, isInFile } from "../catalog/source.tsx";
import { PriceFields } from "../prices/price-fields.tsx";
import {
  isSameTarget,
  keepRoute,
  newRouteDraft,
  type Route,
  routeFieldNames,
  toCost,
  toRouteDraft,
  toRouteInput,
  withProvider,
} from "./route-drafts.ts";
import { TargetFields, UseFields } from "./route-fields.tsx";

interface RouteDialogProps {
  readonly entry: Reply<"GET /api/catalog/:model">;
  readonly route: Route | "new";
}

export function RouteDialog({ entry, route }: RouteDialogProps) {
  const { id, endpoint, routes } = entry;
  const isLocked = isInFile(entry, "routes");
  const providers = useProviderNames();
  const at = route === "new" ? routes.length : routes.findIndex((one) => isSameTarget(one, route));
  const form = useForm({
    route: "PUT /api/catalog/:model/routes",
    values: () => (route === "new" ? newRouteDraft(routes, "") : toRouteDraft(route)),
    fields: () => [...routeFieldNames, ...entry.classes.map(({ name }) => `cost.${name}`)],
    readProblem: (problem) => problemWithin(problem, `routes.${at}.`),
    toInput: (draft) => {
      const input =
        isLocked && route !== "new"
          ? { ...keepRoute(route), cost: toCost(draft.cost) }
          : toRouteInput(endpoint, withProvider(draft, providers));
      const others = routes.map((one, place) => (place === at ? input : keepRoute(one)));
      const body = { routes: route === "new" ? [...others, input] : others };
      return { params: { model: id }, body };
    },
    onDone: () => say(`Saved the routes of ${id}.`),
  });
  const { problem, edit } = form;
  const draft = withProvider(form.values, providers);
  const fields = { draft, endpoint, providers, problem, isLocked, onEdit: edit };
  return (
    <FormDialog
      title={titleOf(route, isLocked)}
      form={form}
      submit={route === "new" ? "Add route" : "Save changes"}
    >
      {isLocked && <FileNote source={entry.source} isPartial />}
      {endpoint === "embeddings" && at > 0 && (
        <p className="notice">
          All routes of an embeddings model must lead to the same upstream model. Vectors from
          different models cannot be compared.
        </p>
      )}
      <TargetFields {...fields} />
      <UseFields {...fields} />
      <Fieldset legend="Cost to you (optional)">
        <PriceFields
          classes={entry.classes}
          texts={draft.cost}
          onEdit={(cost) => edit({ cost })}
          problem={problem}
          prefix="cost."
          isOptional
        />
      </Fieldset>
    </FormDialog>
  );
}

function titleOf(route: Route | "new", isLocked: boolean): string {
  if (route === "new") return "Add route";
  return `${isLocked ? "Cost of" : "Edit"} ${route.provider}/${route.model}`;
}

/** The providers a route can use; empty while loading. */
export function useProviderNames(): readonly string[] {
  const found = useApi("GET /api/providers");
  return found.data === undefined
    ? []
    : [...found.data.providers.map(({ name }) => name), "engine"];
}
