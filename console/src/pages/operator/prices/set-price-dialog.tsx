import { Group, Radio, TextInput } from "@mantine/core";
import type { Reply } from "../../../api.ts";
import { say } from "../../../components/feedback/toasts.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import { useForm } from "../../../components/form/use-form.ts";
import { dayStartText } from "../../../format/moments.ts";
import { amountError, filledTexts, PriceFields, type PriceTexts } from "./price-fields.tsx";

type Entry = Reply<"GET /api/catalog">[number];

export function SetPrice({ entry }: { readonly entry: Entry }) {
  const form = useForm({
    route: "POST /api/prices",
    values: { texts: (entry.price ?? {}) as PriceTexts, when: "now", from: "" },
    fields: ({ when }) => [
      ...entry.classes.map(({ name }) => name),
      ...(when === "later" ? ["from"] : []),
    ],
    toInput: ({ texts, when, from }) => ({
      body: {
        model: entry.id,
        price: filledTexts(texts),
        ...(when === "later" ? { from: dayStartText(from) } : {}),
      },
    }),
    onDone: () => say(`Saved the price of ${entry.id}.`),
  });
  const { texts, when } = form.values;
  return (
    <FormDialog
      title={`Price of ${entry.id}`}
      form={form}
      submit="Set price"
      gap="lg"
      isDisabled={Object.values(texts).some((text) => amountError(text) !== undefined)}
    >
      <PriceFields
        classes={entry.classes}
        texts={texts}
        onEdit={(given) => form.edit({ texts: given })}
        problem={form.problem}
        hasFocus
      />
      <Radio.Group label="Effective" value={when} onChange={(given) => form.edit({ when: given })}>
        <Group mt={6} gap="lg">
          <Radio value="now" label="Now" />
          <Radio value="later" label="From a date" />
        </Group>
      </Radio.Group>
      {when === "later" && (
        <TextInput
          label="Date"
          description="The price applies from the start of this day."
          type="date"
          required
          {...form.text("from")}
        />
      )}
    </FormDialog>
  );
}
