import { splitSshAddress } from './remote-address.ts';

/** The place of a remote on the web. */
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
  const ssh = splitSshAddress(first);
  const address = ssh === null ? first : `ssh://${ssh.host}/${ssh.path.slice(1)}`;
  if (!/^(?:https?|ssh|git):\/\//.test(address) || !URL.canParse(address)) return null;
  const { protocol, host: web, hostname, pathname } = new URL(address);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return {
    origin: isWeb ? `${protocol}//${web}` : `https://${hostname}`,
    path: pathname.replace(/^\/+|(?:\.git)?\/*$/g, ''),
  };
}
