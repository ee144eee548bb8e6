import { type RefObject, useEffect } from "react";

/** So near to the end of the page one still reads along. */
const nearPx = 160;

const endOfPage = () => document.documentElement.scrollHeight - window.innerHeight;

/** Keeps the end of what grows in sight, unless the reader has scrolled away from it. */
export function useFollow(part: RefObject<HTMLElement | null>, count: number): void {
  useEffect(() => {
    const { current } = part;
    if (current === null || count === 0) return;
    let isFollowing = true;
    const toEnd = () => isFollowing && window.scrollTo({ top: endOfPage() });
    const look = () => {
      isFollowing = endOfPage() - window.scrollY < nearPx;
    };
    const observer = new ResizeObserver(toEnd);
    observer.observe(current);
    window.addEventListener("scroll", look, { passive: true });
    toEnd();
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", look);
    };
  }, [part, count]);
}
