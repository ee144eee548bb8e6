import { Button, Fieldset, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { FormProblem, problemWithin } from "../../../components/feedback/form-problem.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { useApi, useChange } from "../../../queries.ts";
import { FileNote, isInFile } from "../catalog/source.tsx";
import { PriceFields } from "../prices/price-fields.tsx";
import classes from "./page.module.css";
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

type Entry = Reply<"GET /api/catalog/:model">;

interface RouteDialogProps {
  readonly entry: Entry;
  /** Undefined: closed. */
  readonly route: Route | "new" | undefined;
  readonly onClose: () => void;
}

export function RouteDialog({ entry, route, onClose }: RouteDialogProps) {
  const title =
    route === undefined || route === "new"
      ? "Add route"
      : isInFile(entry, "routes")
        ? `Cost of ${route.provider}/${route.model}`
        : `Edit ${route.provider}/${route.model}`;
  return (
    <Modal opened={route !== undefined} onClose={onClose} title={title} size="lg">
      {route !== undefined && <RouteForm entry={entry} route={route} onClose={onClose} />}
    </Modal>
  );
}

interface RouteFormProps extends Pick<RouteDialogProps, "entry" | "onClose"> {
  readonly route: Route | "new";
}

/** Inside the dialog, so that it starts with the current values each time. */
function RouteForm({ entry, route, onClose }: RouteFormProps) {
  const { id, endpoint, routes } = entry;
  const isLocked = isInFile(entry, "routes");
  const providers = useProviderNames();
  const [draft, setDraft] = useState(() =>
    route === "new" ? newRouteDraft(routes, "") : toRouteDraft(route),
  );
  const shown = withProvider(draft, providers);
  const save = useChange("PUT /api/catalog/:model/routes", {
    onDone: () => {
      say(`Saved the routes of ${id}.`);
      onClose();
    },
  });
  const at = route === "new" ? routes.length : routes.findIndex((one) => isSameTarget(one, route));
  const submit = () => {
    const input =
      isLocked && route !== "new"
        ? { ...keepRoute(route), cost: toCost(shown.cost) }
        : toRouteInput(endpoint, shown);
    const others = routes.map((one, place) => (place === at ? input : keepRoute(one)));
    const body = { routes: route === "new" ? [...others, input] : others };
    save.mutate({ params: { model: id }, body });
  };
  const problem = problemWithin(save.error, `routes.${at}.`);
  const fields = { draft: shown, endpoint, providers, problem, isLocked };
  const onEdit = (change: Partial<typeof draft>) => setDraft({ ...shown, ...change });
  const costNames = entry.classes.map(({ name }) => `cost.${name}`);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="md">
        {isLocked && <FileNote source={entry.source} isPartial />}
        {endpoint === "embeddings" && at > 0 && (
          <p className={classes.warning}>
            All routes of an embeddings model must lead to the same model. Vectors of different
            models cannot be compared.
          </p>
        )}
        <TargetFields {...fields} onEdit={onEdit} />
        <UseFields {...fields} onEdit={onEdit} />
        <Fieldset legend="Cost to you (optional)">
          <PriceFields
            classes={entry.classes}
            texts={shown.cost}
            onEdit={(cost) => onEdit({ cost })}
            problem={problem}
            prefix="cost."
            isOptional
          />
        </Fieldset>
        <FormProblem problem={problem} fields={[...routeFieldNames, ...costNames]} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {route === "new" ? "Add route" : "Save changes"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Those that a route can name; none while they are loading. */
export function useProviderNames(): readonly string[] {
  const found = useApi("GET /api/providers");
  return found.data === undefined
    ? []
    : [...found.data.providers.map(({ name }) => name), "engine"];
}
