/** Where a remote is on the web. */
export interface WebPlace {
  /** Scheme, host and port. */
  origin: string;
  /** `owner/repo`. */
  path: string;
}

/** Reads where a remote is on the web; null for a folder. A host is expected to have its pages at https. */
export function readWebPlace(url: string): WebPlace | null {
  // Of several addresses the first one.
  const [first = ''] = url.split(' and ');
  const [, host, name] = /^(?:[^/@:]+@)([^/:]+):(.+)$/.exec(first) ?? [];
  const address = host === undefined ? first : `ssh://${host}/${name}`;
  if (!/^(?:https?|ssh|git):\/\//.test(address) || !URL.canParse(address)) return null;
  const { protocol, host: web, hostname, pathname } = new URL(address);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return {
    origin: isWeb ? `${protocol}//${web}` : `https://${hostname}`,
    path: pathname.replace(/^\/+|(?:\.git)?\/*$/g, ''),
  };
}
