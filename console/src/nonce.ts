/** The page's policy lets in only style elements that carry it. */
export const styleNonce =
  document.querySelector<HTMLMetaElement>("meta[name=nonce]")?.content ?? "";

// Where the scroll lock of modals and menus looks for it.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });
