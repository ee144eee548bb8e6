import { Button, Checkbox, Group, Stack, TextInput } from "@mantine/core";
import { IconAlertTriangle, IconBox, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { EmptyState } from "../../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Loaded } from "../../../components/feedback/loaded.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { DialogBody, useDialog } from "../../../components/form/dialog.tsx";
import { PriceTags } from "../../../components/money/price-tags.tsx";
import { useApi, useChange } from "../../../queries.ts";
import classes from "./page.module.css";

type Offer = Reply<"GET /api/providers/:name/offer">;

/** What a provider offers, to choose from. */
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
  const dialog = useDialog();
  const [find, setFind] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const serve = useChange("POST /api/providers/:name/models", {
    onDone: ({ served }) => {
      say(`Added ${served.length === 1 ? served[0] : `${served.length} models`} to the catalog.`);
      dialog?.close();
    },
  });
  const { proposals, problem } = offer;
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
      <EmptyState
        icon={IconBox}
        title="No more models to add"
        about="All of its supported models are already in the catalog."
      />
    );
  const shown = proposals.filter(({ id }) => id.toLowerCase().includes(find.trim().toLowerCase()));
  return (
    <Stack gap="md">
      <TextInput
        type="search"
        aria-label="Search models"
        placeholder="Search models"
        leftSection={<IconSearch size={16} />}
        value={find}
        onChange={(event) => setFind(event.currentTarget.value)}
      />
      <Checkbox.Group label="Models to add" value={[...chosen]} onChange={setChosen}>
        <div className={classes.offers}>
          {shown.map(({ id, upstream, endpoint, price, note }) => (
            <Checkbox
              key={id}
              value={id}
              label={id === upstream ? id : `${id} (upstream: ${upstream})`}
              description={
                <>
                  {endpoint} · <PriceTags price={price} none="No list price" />
                  {note !== null && <span className={classes.note}>{note}</span>}
                </>
              }
            />
          ))}
        </div>
      </Checkbox.Group>
      <ErrorNotice problem={serve.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={dialog?.close}>
          {" "}
          Cancel{" "}
        </Button>
        <Button
          disabled={chosen.length === 0}
          loading={serve.isPending}
          onClick={() => serve.mutate({ params: { name }, body: { ids: [...chosen] } })}
        >
          {chosen.length === 0
            ? "Add models"
            : `Add ${chosen.length} ${chosen.length === 1 ? "model" : "models"}`}
        </Button>
      </Group>
    </Stack>
  );
}
