import { Button } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";

export function Page() {
  return (
    <>
      <PageHeader title="Nothing here" />
      <EmptyState
        icon={IconSearch}
        title="There is no page at this address"
        about="It may have moved, or the address has a typing error."
        action={
          <Button component={Link} to="/">
            Go to the overview
          </Button>
        }
      />
    </>
  );
}
