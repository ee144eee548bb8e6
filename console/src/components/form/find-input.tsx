import { TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useSearchText } from "../../search.ts";
import classes from "./find-input.module.css";

interface FindInputProps {
  readonly label: string;
  readonly placeholder: string;
}

/** The search field of a page, kept in the URL as `find`. */
export function FindInput({ label, placeholder }: FindInputProps) {
  const [search, setSearch] = useSearchText();
  return (
    <TextInput
      className={classes.input}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} />}
      value={search["find"] ?? ""}
      onChange={(event) => setSearch({ find: event.currentTarget.value || undefined })}
    />
  );
}
