import { Button } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";

export function Page() {
  return (
    <>
      <PageHeader title="Page not found" hasTimes={false} />
      <EmptyState
        icon={IconSearch}
        title="This page does not exist"
        about="Check the address, or start from the overview."
        action={
          <Button component={Link} to="/">
            Go to overview
          </Button>
        }
      />
    </>
  );
}
