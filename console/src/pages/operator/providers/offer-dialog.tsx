import { IconAlertTriangle, IconBox } from "@tabler/icons-react";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { Loaded } from "../../../components/feedback/loaded.tsx";
import { DialogBody } from "../../../components/form/dialog.tsx";
import { useApi } from "../../../queries.ts";
import { ServeForm } from "./serve/serve-form.tsx";
import { Unsupported } from "./serve/unsupported.tsx";

type Offer = Reply<"GET /api/providers/:name/offer">;

/** What a provider offers, to choose from and to price. */
export function OfferedModels({ name }: { readonly name: string }) {
  const offer = useApi("GET /api/providers/:name/offer", { params: { name } });
  return (
    <DialogBody title={`Add models from ${name}`}>
      <Loaded from={offer} lines={5} label="Loading models">
        {(data) => <Choice name={name} offer={data} />}
      </Loaded>
    </DialogBody>
  );
}

function Choice({ name, offer }: { readonly name: string; readonly offer: Offer }) {
  const { proposals, unsupported, problem } = offer;
  if (problem !== null)
    return (
      <EmptyState
        icon={IconAlertTriangle}
        title="Could not list its models"
        about={`${problem.what} ${problem.advice} You can still add routes on a model's page.`}
      />
    );
  if (proposals.length === 0)
    return (
      <>
        <EmptyState
          icon={IconBox}
          title="No more models to add"
          about="All of its supported models are already in the catalog."
        />
        <Unsupported names={unsupported} />
      </>
    );
  return <ServeForm name={name} proposals={proposals} unsupported={unsupported} />;
}
