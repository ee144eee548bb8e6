import { Component, type ReactNode } from "react";
import { say } from "../components/feedback/toasts.tsx";

/** Around a dialog: if its file is gone, the page stays, and a toast names the way out. */
export class PartBoundary extends Component<
  { readonly children: ReactNode },
  { readonly hasFailed: boolean }
> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override componentDidCatch() {
    say("Could not open this. The console was updated: reload the page.", "bad");
  }

  override render() {
    return this.state.hasFailed ? null : this.props.children;
  }
}
