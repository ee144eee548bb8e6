import { createContext, useContext } from "react";

/** The account that pays for the calls: the one of the page, or the one that the operator chose. */
export const PlaygroundAccount = createContext("");

export const usePlaygroundAccount = () => useContext(PlaygroundAccount);
