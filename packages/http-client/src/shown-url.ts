/** A URL as errors show it: without user, password, query and fragment, where secrets are. */
export function shownUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
