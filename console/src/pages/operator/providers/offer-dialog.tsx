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
    <DialogBody title={`Models of ${name}`}>
      <Loaded from={offer} lines={5} label="Asking for its models">
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
      say(`${served.length === 1 ? served[0] : `${served.length} models`} added to the catalogue.`);
      dialog?.close();
    },
  });
  const { proposals, problem } = offer;
  if (problem !== null)
    return (
      <EmptyState
        icon={IconAlertTriangle}
        title="It does not tell its models"
        about={`${problem.what} ${problem.advice} Routes to it can still be made by hand, on a model's page.`}
      />
    );
  if (proposals.length === 0)
    return (
      <EmptyState
        icon={IconBox}
        title="Nothing more to serve"
        about="All that it offers and that can be served here is in the catalogue already."
      />
    );
  const shown = proposals.filter(({ id }) => id.toLowerCase().includes(find.trim().toLowerCase()));
  return (
    <Stack gap="md">
      <TextInput
        type="search"
        aria-label="Find a model"
        placeholder="Find a model"
        leftSection={<IconSearch size={16} />}
        value={find}
        onChange={(event) => setFind(event.currentTarget.value)}
      />
      <Checkbox.Group label="Serve these" value={[...chosen]} onChange={setChosen}>
        <div className={classes.offers}>
          {shown.map(({ id, upstream, endpoint, price, note }) => (
            <Checkbox
              key={id}
              value={id}
              label={id === upstream ? id : `${id} (there: ${upstream})`}
              description={
                <>
                  {endpoint} · <PriceTags price={price} none="no public price" />
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
          Not now
        </Button>
        <Button
          disabled={chosen.length === 0}
          loading={serve.isPending}
          onClick={() => serve.mutate({ params: { name }, body: { ids: [...chosen] } })}
        >
          {chosen.length === 0 ? "Add to the catalogue" : `Add ${chosen.length} to the catalogue`}
        </Button>
      </Group>
    </Stack>
  );
}
