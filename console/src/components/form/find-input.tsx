import { TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useSearchText } from "../../search.ts";

interface FindInputProps {
  readonly label: string;
  readonly placeholder: string;
}

/** What is looked for on a page, kept in the address as `find`. */
export function FindInput({ label, placeholder }: FindInputProps) {
  const [search, setSearch] = useSearchText();
  return (
    <TextInput
      w={260}
      maw="100%"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} />}
      value={search["find"] ?? ""}
      onChange={(event) => setSearch({ find: event.currentTarget.value || undefined })}
    />
  );
}
