/**
 * What the platform gives this browser beside the session's cookie. A cookie goes to every port of
 * its host; what is kept here can only be read by pages of this very origin.
 */
const bindingName = "svc-session";
const deviceName = "svc-device";

interface BrowserSecrets {
  readonly binding: string | null;
  readonly device: string | null;
}

export const browserSession = {
  /** For every request to the platform: without it the cookie opens nothing. */
  headers: () => headerOf("x-svc-session", bindingName),
  /** For signing in: the browser was used by this person before. */
  deviceHeaders: () => headerOf("x-svc-device", deviceName),
  keep({ binding, device }: BrowserSecrets): void {
    put(bindingName, binding);
    if (device !== null) put(deviceName, device);
  },
  /** The device stays: it opens nothing. */
  end: () => localStorage.removeItem(bindingName),
  /** When another tab has signed in or out. */
  onChange(listener: () => void): void {
    window.addEventListener("storage", ({ key }) => {
      if (key === bindingName || key === null) listener();
    });
  },
};

function headerOf(header: string, name: string): Readonly<Record<string, string>> {
  const value = localStorage.getItem(name);
  return value === null ? {} : { [header]: value };
}

function put(name: string, value: string | null): void {
  if (value === null) localStorage.removeItem(name);
  else localStorage.setItem(name, value);
}
